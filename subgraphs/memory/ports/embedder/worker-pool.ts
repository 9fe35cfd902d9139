import { stat } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import type { Transferable } from 'node:worker_threads';

interface Task<Input, Output> {
  input: Input;
  transfer: readonly Transferable[];
  answer: PromiseWithResolvers<Output>;
}

export interface WorkerPoolOptions {
  /** The file that calls `answerTasks`, without its extension: it is TypeScript in the source and JavaScript once built. */
  script: URL;
  threads: number;
  /** `background` threads run only when nothing else wants the processor. */
  priority: 'normal' | 'background';
}

/** Threads that answer a task each, first come, first served. A thread starts when it is first needed. */
export class WorkerPool<Input, Output> {
  readonly #options: WorkerPoolOptions;
  readonly #waiting: Task<Input, Output>[] = [];
  readonly #running = new Map<Worker, Task<Input, Output>>();
  readonly #idle: Worker[] = [];
  #closed = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
  }

  /** What is in `transfer` is handed over instead of copied, and is empty here afterwards. */
  run(input: Input, transfer: readonly Transferable[] = []): Promise<Output> {
    if (this.#closed) return Promise.reject(new Error('The worker threads are closed.'));
    const answer = Promise.withResolvers<Output>();
    this.#waiting.push({ input, transfer, answer });
    this.#assign();
    return answer.promise;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const tasks = [...this.#waiting.splice(0), ...this.#running.values()];
    for (const task of tasks) task.answer.reject(new Error('The worker threads are closed.'));
    await Promise.all([...this.#idle, ...this.#running.keys()].map((worker) => worker.terminate()));
  }

  #assign(): void {
    while (this.#waiting.length > 0) {
      const worker = this.#idle.pop() ?? this.#start();
      if (worker === undefined) return;
      const task = this.#waiting.shift()!;
      this.#running.set(worker, task);
      worker.postMessage(task.input, task.transfer);
    }
  }

  #start(): Worker | undefined {
    if (this.#running.size >= this.#options.threads) return undefined;
    const { script, priority } = this.#options;
    const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
    const worker = new Worker(new URL(script.href + extension), { workerData: { priority } });
    worker.on('message', (output: Output) => {
      this.#running.get(worker)?.answer.resolve(output);
      this.#running.delete(worker);
      this.#idle.push(worker);
      this.#assign();
    });
    // Whatever is thrown in a thread ends it, fails its task only, and the next task gets another thread.
    worker.on('error', (error) => {
      this.#running.get(worker)?.answer.reject(error);
      this.#running.delete(worker);
      if (!this.#closed) this.#assign();
    });
    return worker;
  }
}

/** The other side, called by the thread's own file: prepares once, then answers. Does nothing in the main thread. */
export async function answerTasks<Input, Output>(prepare: () => Promise<(input: Input) => Promise<Output>>): Promise<void> {
  if (parentPort === null) return;
  const { priority } = workerData as { priority: WorkerPoolOptions['priority'] };
  // On Linux a priority belongs to a thread; elsewhere this would slow down the whole process.
  if (priority === 'background' && process.platform === 'linux') {
    // Node's shared thread pool starts at its first use and inherits the priority of who uses it: not of this thread.
    await stat('.');
    setPriority(0, 19);
  }
  const port = parentPort;
  const answer = await prepare();
  port.on('message', async (input: Input) => port.postMessage(await answer(input)));
}
