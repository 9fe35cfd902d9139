import type { EntityManager } from '@mikro-orm/core';

/**
 * Words in, ranked revisions out. A document is one revision (`seq`) of an object, and every search is scoped to one
 * workspace. Work that costs processor time is prepared outside the transaction and gives a change; calling the change
 * inside a transaction is short. An engine with its own server (Meilisearch) fits the same shape: its change records
 * the upsert by id, its `prepareMerge` always answers null, and it translates `Filter` itself, where the tables engine
 * asks `KeywordDocuments`.
 */
export interface KeywordIndex<Filter> {
  prepare(workspaceId: string, documents: readonly KeywordDocument[]): Promise<KeywordChange>;
  /** Null when nothing is worth merging now. */
  prepareMerge(em: EntityManager, workspaceId: string): Promise<KeywordChange | null>;
  search(em: EntityManager, query: KeywordQuery<Filter>): Promise<KeywordResult>;
  close(): Promise<void>;
}

export interface KeywordDocument {
  readonly seq: number;
  readonly content: string;
}

/** To be called inside a transaction. False: someone else changed the same segments first, and nothing was done. */
export type KeywordChange = (em: EntityManager) => Promise<boolean>;

export interface KeywordQuery<Filter> {
  readonly workspaceId: string;
  readonly text: string;
  readonly filter: Filter;
  readonly limit: number;
  /** `tiered`: documents with all the words first, for keyword mode. `bm25`: the plain ranking, for fusion. */
  readonly ranking: 'tiered' | 'bm25';
}

export interface KeywordResult {
  /** Best first. With `bm25`, exact hits are listed even when they rank beyond the limit. */
  readonly hits: readonly KeywordHit[];
  /** The folded words that matched, for `highlight`. */
  readonly terms: readonly string[];
}

export interface KeywordHit {
  readonly seq: number;
  /** 0..1, falling with rank, comparable within a ranking. */
  readonly score: number;
  /** Holds a rare identifier of the query letter for letter. */
  readonly exact: boolean;
}

/** What an index made of revisions must ask about the objects they belong to. */
export interface KeywordDocuments<Filter> {
  /** Of these revisions, those that are not current, or of objects that may not be found or do not pass the filter. */
  hidden(em: EntityManager, workspaceId: string, seqs: readonly number[], filter: Filter): Promise<readonly number[]>;
  /** Of these revisions, those that will never be found again. */
  outdated(em: EntityManager, workspaceId: string, seqs: readonly number[]): Promise<readonly number[]>;
  contents(em: EntityManager, workspaceId: string, seqs: readonly number[]): Promise<ReadonlyMap<number, string>>;
}
