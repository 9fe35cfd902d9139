import type { Embedder } from '../embedder.ts';
import { MiniLmEmbedder } from './minilm.ts';
import { OpenAiCompatibleEmbedder } from './openai-compatible.ts';
import type { OpenAiCompatibleOptions } from './openai-compatible.ts';

export type EmbedderOptions =
  | { provider: 'minilm'; threads: number }
  | ({ provider: 'openai' } & OpenAiCompatibleOptions);

export function createEmbedder(options: EmbedderOptions): Embedder {
  switch (options.provider) {
    case 'minilm':
      return new MiniLmEmbedder(options);
    case 'openai':
      return new OpenAiCompatibleEmbedder(options);
  }
}
