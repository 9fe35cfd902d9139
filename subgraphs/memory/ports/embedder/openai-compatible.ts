import { setTimeout as delay } from 'node:timers/promises';
import type { EmbeddedPassage, Embedder, Passage } from '../embedder.ts';
import { cutPassages } from './cut-passages.ts';
import { normalize } from './normalize.ts';

export interface OpenAiCompatibleOptions {
  /** As in `https://api.openai.com/v1`; `/embeddings` is added. */
  baseUrl: string;
  apiKey: string | null;
  model: string;
  /** Without it, the first answer tells. */
  dimensions?: number;
  timeoutMs?: number;
  /** Doubled after each failure. */
  retryDelayMs?: number;
}

/** Hosted models accept 8,192 tokens and some local servers only 512, of which the estimate below keeps well clear. */
const PASSAGE_TOKENS_MAX = 320;
const PASSAGES_PER_REQUEST = 64;
const QUERY_ATTEMPTS = 2;
const BACKGROUND_ATTEMPTS = 6;

/** Any endpoint that speaks OpenAI's `POST /embeddings`. */
export class OpenAiCompatibleEmbedder implements Embedder {
  readonly model: string;
  readonly #options: OpenAiCompatibleOptions;
  readonly #closing = new AbortController();
  #dimensions: number | undefined;

  constructor(options: OpenAiCompatibleOptions) {
    this.model = options.model;
    this.#options = options;
    this.#dimensions = options.dimensions;
  }

  get dimensions(): number {
    if (this.#dimensions === undefined) throw new Error('The dimensions are unknown before the first answer.');
    return this.#dimensions;
  }

  async embedQuery(text: string): Promise<Float32Array> {
    const [vector] = await this.#embed([text], QUERY_ATTEMPTS);
    return vector!;
  }

  async embedContents(contents: readonly string[]): Promise<EmbeddedPassage[][]> {
    const embedded = contents.map((): EmbeddedPassage[] => []);
    let request: (Passage & { content: number })[] = [];
    const send = async (): Promise<void> => {
      const texts = request.map(({ content, start, end }) => contents[content]!.slice(start, end));
      const vectors = await this.#embed(texts, BACKGROUND_ATTEMPTS);
      request.forEach(({ content, start, end }, index) => embedded[content]!.push({ start, end, vector: vectors[index]! }));
      request = [];
    };
    // Cutting pauses at every request, so that a long content never holds up the event loop.
    for (const [content, text] of contents.entries()) {
      for (const { start, end } of cutPassages(text, estimateTokens, PASSAGE_TOKENS_MAX)) {
        request.push({ content, start, end });
        if (request.length === PASSAGES_PER_REQUEST) await send();
      }
    }
    if (request.length > 0) await send();
    return embedded;
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('The embedder is closed.'));
  }

  async #embed(input: string[], attempts: number): Promise<Float32Array[]> {
    const { data } = await this.#post(input, attempts);
    const vectors = new Array<Float32Array>(input.length);
    for (const { index, embedding } of data) vectors[index] = normalize(Float32Array.from(embedding));
    this.#dimensions ??= vectors[0]?.length;
    if (data.length !== input.length || vectors.some((vector) => vector.length !== this.#dimensions)) {
      throw new Error(`${this.#options.baseUrl} did not answer with ${input.length} vectors of ${this.#dimensions} dimensions.`);
    }
    return vectors;
  }

  /** Tries again when the server is busy, broken or out of reach; what it refuses once, it would refuse again. */
  async #post(input: string[], attempts: number): Promise<EmbeddingsAnswer> {
    const { baseUrl, apiKey, model, timeoutMs = 30_000, retryDelayMs = 500 } = this.#options;
    const headers = { 'content-type': 'application/json', ...(apiKey && { authorization: `Bearer ${apiKey}` }) };
    const body = JSON.stringify({ model, input });
    for (let attempt = 1; ; attempt += 1) {
      let failure: Error;
      try {
        const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(timeoutMs)]);
        const response = await fetch(`${baseUrl}/embeddings`, { method: 'POST', headers, body, signal });
        if (response.ok) return (await response.json()) as EmbeddingsAnswer;
        failure = new Error(`${baseUrl} answered ${response.status}: ${(await response.text()).slice(0, 500)}`);
        if (response.status !== 429 && response.status < 500) attempt = attempts;
      } catch (error) {
        failure = new Error(`${baseUrl} gave no embeddings.`, { cause: error });
      }
      this.#closing.signal.throwIfAborted();
      if (attempt >= attempts) throw failure;
      await delay(retryDelayMs * 2 ** (attempt - 1), undefined, { signal: this.#closing.signal });
    }
  }
}

interface EmbeddingsAnswer {
  data: { index: number; embedding: number[] }[];
}

/** Tokenizers differ; 3 bytes of UTF-8 a token is on the safe side for English, and one character in Chinese. */
function estimateTokens(word: string): { length: number } {
  return { length: Math.ceil(Buffer.byteLength(word) / 3) };
}
