import type { EntityManager } from '@mikro-orm/core';
import { Meilisearch } from 'meilisearch';
import type { EnqueuedTaskPromise, Index, MultiSearchQuery } from 'meilisearch';
import type { RetrieveFilter } from '../queries/filter.ts';
import { fold } from './keyword/fold.ts';
import { parseQuery } from './keyword/keyword-query.ts';
import { tieredWordsMax } from './keyword/ranking.ts';
import type { KeywordDocuments, KeywordQuery, KeywordResult } from './keyword-index.ts';
import { documentsOf, settings } from './meilisearch/documents.ts';
import type { PartDocument, SearchableObject } from './meilisearch/documents.ts';
import { filterExpression, quoted } from './meilisearch/filter-expression.ts';
import { mergeLists } from './meilisearch/merge-lists.ts';
import type { ScoredList } from './meilisearch/merge-lists.ts';
import { queryWords } from './meilisearch/query-words.ts';

export interface MeilisearchOptions {
  readonly url: string;
  readonly apiKey: string | null;
  readonly documents: KeywordDocuments<RetrieveFilter>;
  readonly indexName?: string;
}

/**
 * One index for all workspaces (Meilisearch advises against many), searched with the workspace as a filter, always. What it
 * answers is checked against the database: it lags behind by a moment, and nobody may see what was deleted or is not theirs.
 */
export class MeilisearchKeywordIndex {
  readonly #documents: KeywordDocuments<RetrieveFilter>;
  readonly #reader: Meilisearch;
  readonly #writer: Meilisearch;
  readonly #indexName: string;
  #settingsApplied: Promise<void> | null = null;

  constructor({ url, apiKey, documents, indexName = 'memory' }: MeilisearchOptions) {
    const connection = { host: url, ...(apiKey !== null && { apiKey }) };
    this.#documents = documents;
    this.#reader = new Meilisearch({ ...connection, timeout: searchTimeoutMs });
    this.#writer = new Meilisearch({ ...connection, timeout: writeTimeoutMs, defaultWaitOptions: { timeout: taskTimeoutMs } });
    this.#indexName = indexName;
  }

  async search(em: EntityManager, { workspaceId, text, filter, limit, ranking }: KeywordQuery<RetrieveFilter>): Promise<KeywordResult> {
    const { phrases, words } = queryWords(text);
    const choices = [...(phrases.length > 0 ? [''] : []), ...words].map((word) => [...phrases, word].join(' ').trim());
    if (choices.length === 0) return { hits: [], terms: [] };
    const own = parseQuery(text).words;
    const identifiers = ranking === 'bm25' ? own.filter(({ identifier }) => identifier).slice(0, identifiersMax) : [];

    const inWorkspace = { indexUid: this.#indexName, filter: filterExpression(workspaceId, filter), matchingStrategy: 'all' as const };
    const listed = (q: string) => ({ ...inWorkspace, q, limit, attributesToRetrieve: ['seq'], showRankingScore: true });
    const [, everything, all, ...others] = await this.#ask([
      // Fails, and the whole request with it, while the index is not filled.
      { indexUid: this.#filledMark, q: '', limit: 0 },
      { ...inWorkspace, q: '', limit: 0 },
      listed([...phrases, ...words].join(' ')),
      ...choices.map(listed),
      ...identifiers.map(({ term }) => listed(`"${term}"`)),
      ...choices.map((q) => ({ ...inWorkspace, q, ...markedUp })),
    ]);
    const documents = everything!.total;
    const parts = others.slice(0, choices.length);
    const identified = others.slice(choices.length, choices.length + identifiers.length);
    const marked = others.slice(choices.length + identifiers.length).flatMap(({ texts }) => texts);

    const foundWhole = new Set(identifiers.filter((_, at) => identified[at]!.total > 0).map(({ term }) => term));
    const exact = new Set(
      identifiers.flatMap(({ partOf }, at) => {
        const { total, hits } = identified[at]!;
        const isRare = total <= Math.max(2, documents * rareShare);
        return isRare && !(partOf !== null && foundWhole.has(partOf)) ? hits.map(({ seq }) => seq) : [];
      }),
    );
    const merged = mergeLists(all!, parts, { tiers: ranking === 'tiered' && choices.length <= tieredWordsMax, documents });
    const known = new Set(merged.map(({ seq }) => seq));
    const ranked = [...merged, ...[...exact].filter((seq) => !known.has(seq)).map((seq) => ({ seq, score: 0 }))];
    const hidden = new Set(await this.#documents.hidden(em, workspaceId, ranked.map(({ seq }) => seq), filter));
    return {
      hits: ranked
        .filter(({ seq }) => !hidden.has(seq))
        .map((hit) => ({ ...hit, exact: exact.has(hit.seq) }))
        .filter((hit, place) => place < limit || hit.exact),
      terms: [...new Set([...own.map(({ term }) => term), ...marked.flatMap(markedWords)])],
    };
  }

  /** Writes these objects, and removes whatever else there is of the `ids`. A second time changes nothing. */
  async replace(ids: readonly string[], objects: readonly SearchableObject[]): Promise<void> {
    await this.#applySettings();
    if (objects.length > 0) await this.#finished(this.#index.addDocuments(objects.flatMap(documentsOf), { primaryKey: 'id' }));
    const others = objects.length > 0 ? [`seq NOT IN [${objects.map(({ seq }) => seq).join()}]`] : [];
    await this.#finished(this.#index.deleteDocuments({ filter: [`object_id IN [${ids.map(quoted).join()}]`, ...others] }));
  }

  /** Removes every document whose content number is not among those that `currentOf` answers. */
  async removeStale(currentOf: (seqs: readonly number[]) => Promise<ReadonlySet<number>>): Promise<void> {
    await this.#applySettings();
    const stale: string[] = [];
    for (let offset = 0, total = 1; offset < total; offset += pageSize) {
      const page = await this.#index.getDocuments({ fields: ['id', 'seq'], limit: pageSize, offset });
      const current = await currentOf(page.results.map(({ seq }) => seq));
      stale.push(...page.results.filter(({ seq }) => !current.has(seq)).map(({ id }) => id));
      total = page.total;
    }
    if (stale.length > 0) await this.#finished(this.#index.deleteDocuments(stale));
  }

  /** From now on searches are answered: every object that was stored is in the index, or a job is about to put it there. */
  async markFilled(): Promise<void> {
    const existing = await this.#writer.getIndexes({ limit: 1000 });
    if (!existing.results.some(({ uid }) => uid === this.#filledMark)) await this.#finished(this.#writer.createIndex(this.#filledMark, { primaryKey: 'id' }));
  }

  get #index(): Index<PartDocument> {
    return this.#writer.index<PartDocument>(this.#indexName);
  }

  /** An index without documents. It lives and dies with the data of that server, which a mark in our database would not. */
  get #filledMark(): string {
    return `${this.#indexName}_filled`;
  }

  async #ask(queries: MultiSearchQuery[]): Promise<(ScoredList & { texts: string[] })[]> {
    const { results } = await this.#reader.multiSearch<{ queries: MultiSearchQuery[] }, PartDocument>({ queries });
    return results.map(({ hits, estimatedTotalHits }) => ({
      total: estimatedTotalHits ?? 0,
      hits: hits.map(({ seq, _rankingScore }) => ({ seq, score: _rankingScore ?? 0 })),
      texts: hits.map(({ _formatted }) => _formatted?.content ?? ''),
    }));
  }

  /** Before the first document: settings that come later would have everything indexed again. */
  #applySettings(): Promise<void> {
    return (this.#settingsApplied ??= this.#finished(this.#index.updateSettings(settings)));
  }

  /** Meilisearch only queues what it is told; a task that failed later fails here. */
  async #finished(enqueued: EnqueuedTaskPromise): Promise<void> {
    try {
      const task = await enqueued.waitTask();
      if (task.status !== 'succeeded') throw new Error(`Meilisearch task ${task.uid} (${task.type}) ${task.status}: ${task.error?.message ?? 'no reason given'}`);
    } catch (error) {
      // The server may have lost its data; then settings come first again.
      this.#settingsApplied = null;
      throw error;
    }
  }
}

/** A person waits, and PostgreSQL can answer. */
const searchTimeoutMs = 2000;
const writeTimeoutMs = 30_000;
const taskTimeoutMs = 300_000;
const pageSize = 1000;
const identifiersMax = 5;
/** As for PostgreSQL's index: of a workspace's documents, the most that may hold a word for it to be rare. */
const rareShare = 0.0005;

/** The words that Meilisearch took for the query's, as the first documents spell them: highlights are made of them. */
const markedUp = {
  limit: 50,
  attributesToRetrieve: [],
  attributesToCrop: ['content'],
  attributesToHighlight: ['content'],
  cropLength: 5,
  cropMarker: '',
  // From the private use area: nobody's text has them by chance.
  highlightPreTag: '\ue000',
  highlightPostTag: '\ue001',
};
const markedWords = (text: string): string[] => [...text.matchAll(/\ue000([^\ue000\ue001]+)\ue001/g)].map(([, word]) => fold(word!));
