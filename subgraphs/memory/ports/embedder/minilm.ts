import type { EmbeddedPassage, Embedder } from '../embedder.ts';
import { MINILM_DIMENSIONS, MINILM_MODEL } from './minilm-revision.ts';
import type { CutPassage, MiniLmAnswer, MiniLmTask } from './minilm-worker.ts';
import { WorkerPool } from './worker-pool.ts';

/** Small enough (0.3 s at the longest) that several callers share the threads fairly, large enough to hide the messages. */
const PASSAGES_PER_TASK = 16;

/** The bundled model: one thread for queries, and background threads that only use what processor time is left over. */
export class MiniLmEmbedder implements Embedder {
  readonly model = MINILM_MODEL;
  readonly dimensions = MINILM_DIMENSIONS;
  readonly #threads: number;
  readonly #queries: WorkerPool<MiniLmTask, MiniLmAnswer>;
  readonly #background: WorkerPool<MiniLmTask, MiniLmAnswer>;

  constructor({ threads }: { threads: number }) {
    const script = new URL('./minilm-worker', import.meta.url);
    this.#threads = threads;
    this.#queries = new WorkerPool({ script, threads: 1, priority: 'normal' });
    this.#background = new WorkerPool({ script, threads, priority: 'background' });
  }

  async embedQuery(text: string): Promise<Float32Array> {
    return (await this.#queries.run({ kind: 'query', text })) as Float32Array;
  }

  async embedContents(contents: readonly string[]): Promise<EmbeddedPassage[][]> {
    const cut = (await this.#background.run({ kind: 'cut', contents })) as CutPassage[][];
    const vectors = (await this.#embed(cut.flat())).values();
    return cut.map((passages) => passages.map(({ start, end }) => ({ start, end, vector: vectors.next().value! })));
  }

  /** No more tasks at a time than threads, so that whoever comes next waits for one task, not for all of a long content. */
  async #embed(passages: readonly CutPassage[]): Promise<Float32Array[]> {
    const vectors = new Array<Float32Array>(passages.length);
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < passages.length) {
        const start = next;
        next += PASSAGES_PER_TASK;
        const task = passages.slice(start, next);
        const answer = (await this.#background.run({ kind: 'embed', passages: task })) as Float32Array[];
        answer.forEach((vector, index) => (vectors[start + index] = vector));
      }
    };
    await Promise.all(Array.from({ length: this.#threads }, work));
    return vectors;
  }

  async close(): Promise<void> {
    await Promise.all([this.#queries.close(), this.#background.close()]);
  }
}
