import type { Closable } from '#platform/subgraph/subgraph.ts';
import type { RetrieveFilter } from '../queries/filter.ts';
import type { Embedder } from './embedder.ts';
import type { EntityExtractor } from './entity-extractor.ts';
import type { KeywordIndex } from './keyword-index.ts';
import type { MeilisearchKeywordIndex } from './meilisearch-keyword-index.ts';
import type { Circuit } from './meilisearch/circuit.ts';

/** What memory reaches outside the database's ordinary tables. */
export interface MemoryPorts extends Closable {
  readonly embedder: Embedder;
  readonly entities: EntityExtractor;
  readonly keywords: KeywordIndex<RetrieveFilter>;
  /** To be kept current beside PostgreSQL's index; null without MEILI_URL. */
  readonly meilisearch: { readonly index: MeilisearchKeywordIndex; readonly circuit: Circuit } | null;
}
