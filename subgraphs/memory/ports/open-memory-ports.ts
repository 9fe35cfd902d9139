import type { PortsOptions } from '#platform/subgraph/subgraph.ts';
import { keywordDocuments } from '../queries/keyword-documents.ts';
import { countStoredBytes } from '../queries/stored-bytes.ts';
import type { EmbedderOptions } from './embedder/create-embedder.ts';
import { createEmbedder } from './embedder/create-embedder.ts';
import { WinkEntityExtractor } from './entity-extractor/wink.ts';
import { FallbackKeywordIndex } from './fallback-keyword-index.ts';
import { MeilisearchKeywordIndex } from './meilisearch-keyword-index.ts';
import { Circuit } from './meilisearch/circuit.ts';
import type { MemoryPorts } from './ports.ts';
import { PostgresKeywordIndex } from './postgres-keyword-index.ts';

export async function openMemoryPorts({ config, database, logger }: PortsOptions): Promise<MemoryPorts> {
  await countStoredBytes(database.orm.em.fork(), config.quotaStoredBytes !== null);
  const embedder = createEmbedder(embedderOptions(config));
  const entities = new WinkEntityExtractor();
  const postgres = new PostgresKeywordIndex({ documents: keywordDocuments });
  const meilisearch = config.meiliUrl === null ? null : { index: new MeilisearchKeywordIndex({ url: config.meiliUrl, apiKey: config.meiliApiKey, documents: keywordDocuments }), circuit: new Circuit({ logger }) };
  const keywords = meilisearch === null ? postgres : new FallbackKeywordIndex({ preferred: meilisearch.index, circuit: meilisearch.circuit, fallback: postgres });
  return {
    embedder,
    entities,
    keywords,
    meilisearch,
    close: async () => {
      await Promise.all([embedder.close(), entities.close(), keywords.close()]);
    },
  };
}

function embedderOptions(config: PortsOptions['config']): EmbedderOptions {
  if (config.embedder === 'minilm') return { provider: 'minilm', threads: config.embedderThreads };
  return {
    provider: 'openai',
    baseUrl: config.embedderUrl!,
    apiKey: config.embedderApiKey,
    model: config.embedderModel!,
    dimensions: config.embedderDimensions,
  };
}
