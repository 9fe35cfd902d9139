import type { Settings } from 'meilisearch';

/** An object as Meilisearch gets it; metadata that can be filtered on beside the content. */
export interface SearchableObject {
  readonly id: string;
  readonly seq: number;
  readonly workspaceId: string;
  readonly content: string;
  readonly category: string | null;
  readonly department: string | null;
  readonly tags: readonly string[] | null;
  readonly createdAt: Date;
}

/** A document is an object's content, or a part of one that is long. */
export interface PartDocument extends Record<string, unknown> {
  readonly id: string;
  readonly object_id: string;
  readonly seq: number;
  readonly workspace_id: string;
  readonly category: string | null;
  readonly department: string | null;
  readonly tags: readonly string[];
  /** Milliseconds, because Meilisearch orders numbers only. */
  readonly created_at: number;
  readonly content: string;
}

export const settings: Settings = {
  searchableAttributes: ['content'],
  filterableAttributes: ['workspace_id', 'category', 'department', 'tags', 'created_at', 'object_id', 'seq'],
  // Of an object's parts the best one stands for it.
  distinctAttribute: 'seq',
  rankingRules: ['words', 'typo', 'proximity', 'exactness'],
  typoTolerance: { enabled: true, minWordSizeForTypos: { oneTypo: 5, twoTypos: 9 }, disableOnNumbers: true },
  // The interface promises words, not the beginnings of words.
  prefixSearch: 'disabled',
  facetSearch: false,
  pagination: { maxTotalHits: 1000 },
};

export function documentsOf({ id, seq, workspaceId, category, department, tags, createdAt, content }: SearchableObject): PartDocument[] {
  const rest = { object_id: id, seq, workspace_id: workspaceId, category, department, tags: tags ?? [], created_at: createdAt.getTime() };
  return partsOf(content).map((part, index) => ({ id: `${seq}-${index}`, ...rest, content: part }));
}

/**
 * Meilisearch ignores what stands beyond position 65,535 of a text. A word advances by at most 8 positions (after the end of
 * a sentence) and takes at least two characters with what separates it: 16,000 characters are always safe.
 */
const partLengthMax = 16_000;
/** What parts share, so that a phrase is whole in one of them. */
const overlap = 500;

export function partsOf(content: string): string[] {
  const parts: string[] = [];
  let start = 0;
  while (content.length - start > partLengthMax) {
    const end = start + partLengthMax - overlap + wordEnd(content.slice(start + partLengthMax - overlap, start + partLengthMax));
    parts.push(content.slice(start, end).toWellFormed());
    start = end - overlap + wordEnd(content.slice(end - overlap, end));
  }
  return [...parts, content.slice(start).toWellFormed()];
}

/** Where the first space stands; without one, any place is as good as another. */
const wordEnd = (text: string): number => Math.max(0, text.search(/\s/));
