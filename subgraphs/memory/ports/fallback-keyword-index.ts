import type { EntityManager } from '@mikro-orm/core';
import type { KeywordChange, KeywordDocument, KeywordIndex, KeywordQuery, KeywordResult } from './keyword-index.ts';
import type { Circuit } from './meilisearch/circuit.ts';

/** Searches the preferred engine while it is there, else PostgreSQL, whose segments are always kept: they cost 50 µs an object. */
export class FallbackKeywordIndex<Filter> implements KeywordIndex<Filter> {
  readonly #preferred: Pick<KeywordIndex<Filter>, 'search'>;
  readonly #circuit: Circuit;
  readonly #fallback: KeywordIndex<Filter>;

  constructor({ preferred, circuit, fallback }: { preferred: Pick<KeywordIndex<Filter>, 'search'>; circuit: Circuit; fallback: KeywordIndex<Filter> }) {
    this.#preferred = preferred;
    this.#circuit = circuit;
    this.#fallback = fallback;
  }

  prepare(workspaceId: string, documents: readonly KeywordDocument[]): Promise<KeywordChange> {
    return this.#fallback.prepare(workspaceId, documents);
  }

  prepareMerge(em: EntityManager, workspaceId: string): Promise<KeywordChange | null> {
    return this.#fallback.prepareMerge(em, workspaceId);
  }

  async search(em: EntityManager, query: KeywordQuery<Filter>): Promise<KeywordResult> {
    return (await this.#circuit.call(() => this.#preferred.search(em, query))) ?? this.#fallback.search(em, query);
  }

  close(): Promise<void> {
    return this.#fallback.close();
  }
}
