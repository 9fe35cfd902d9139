import type { EntityManager } from '@mikro-orm/core';
import type { Logger } from 'pino';
import { transaction } from './database/transaction.ts';

/** Runs many calls in one transaction; answers a value or an error for each, in order. */
export type GroupRun<Call> = (em: EntityManager, calls: readonly Call[]) => Promise<unknown[]>;

interface Waiting {
  readonly call: unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Group commit: calls that arrive while a transaction of their kind is under way share the next one. One commit then
 * acknowledges many callers, each only after it is durable. When a shared transaction fails for a reason of its own,
 * its calls are run one by one, so that nobody pays for a neighbour.
 */
export class GroupCommit {
  readonly #fork: () => EntityManager;
  readonly #logger: Logger;
  readonly #queues = new Map<GroupRun<never>, { waiting: Waiting[]; running: number }>();
  readonly #parallel: number;
  readonly #groupMax: number;

  constructor(options: { fork: () => EntityManager; logger: Logger; parallel: number; groupMax: number }) {
    this.#fork = options.fork;
    this.#logger = options.logger;
    this.#parallel = options.parallel;
    this.#groupMax = options.groupMax;
  }

  run<Call>(run: GroupRun<Call>, call: Call): Promise<unknown> {
    const queue = this.#queues.get(run as GroupRun<never>) ?? { waiting: [], running: 0 };
    this.#queues.set(run as GroupRun<never>, queue);
    return new Promise((resolve, reject) => {
      queue.waiting.push({ call, resolve, reject });
      if (queue.running < this.#parallel) void this.#drain(run as GroupRun<unknown>, queue);
    });
  }

  async #drain(run: GroupRun<unknown>, queue: { waiting: Waiting[]; running: number }): Promise<void> {
    queue.running += 1;
    // One turn of the event loop lets the requests that arrived together join the first group too.
    await new Promise((resolve) => setImmediate(resolve));
    while (queue.waiting.length > 0) await this.#commit(run, queue.waiting.splice(0, this.#groupMax));
    queue.running -= 1;
  }

  async #commit(run: GroupRun<unknown>, group: Waiting[]): Promise<void> {
    try {
      const results = await transaction(this.#fork(), (em) => run(em, group.map(({ call }) => call)));
      group.forEach(({ resolve, reject }, index) => {
        const result = results[index];
        if (result instanceof Error) reject(result);
        else resolve(result);
      });
    } catch (error) {
      if (group.length === 1) return group[0]!.reject(error);
      this.#logger.warn({ err: error, calls: group.length }, 'a shared transaction failed; running its calls one by one');
      for (const one of group) await this.#commit(run, [one]);
    }
  }
}
