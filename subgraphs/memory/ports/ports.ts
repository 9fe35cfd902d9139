import type { Closable } from '#platform/subgraph/subgraph.ts';
import type { RetrieveFilter } from '../queries/filter.ts';
import type { Embedder } from './embedder.ts';
import type { EntityExtractor } from './entity-extractor.ts';
import type { KeywordIndex } from './keyword-index.ts';

/** What memory reaches outside the database's ordinary tables. */
export interface MemoryPorts extends Closable {
  readonly embedder: Embedder;
  readonly entities: EntityExtractor;
  readonly keywords: KeywordIndex<RetrieveFilter>;
}
