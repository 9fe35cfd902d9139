import type { PortsOptions } from '#platform/subgraph/subgraph.ts';
import { keywordDocuments } from '../queries/keyword-documents.ts';
import type { EmbedderOptions } from './embedder/create-embedder.ts';
import { createEmbedder } from './embedder/create-embedder.ts';
import { WinkEntityExtractor } from './entity-extractor/wink.ts';
import type { MemoryPorts } from './ports.ts';
import { PostgresKeywordIndex } from './postgres-keyword-index.ts';

export async function openMemoryPorts({ config }: PortsOptions): Promise<MemoryPorts> {
  const embedder = createEmbedder(embedderOptions(config));
  const entities = new WinkEntityExtractor();
  const keywords = new PostgresKeywordIndex({ documents: keywordDocuments });
  return {
    embedder,
    entities,
    keywords,
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
