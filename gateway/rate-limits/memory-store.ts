import { LRUCache } from 'lru-cache';
import type { Clock } from '#platform/clock.ts';
import { add, countOf, remove, resetMs, waitMs } from '#platform/sliding-window.ts';
import type { Log } from '#platform/sliding-window.ts';
import type { Layer, LimitStore, Standing } from './store.ts';

/** By name of the layer. An hour's rule must not be forgotten because many addresses come along: so each has a cache of its own. */
export const keysMax = 50_000;

/**
 * Counts in this process. At most `keysMax` tokens, organizations or addresses of a kind are remembered; beyond that the one
 * that was silent longest begins anew. Nobody gains by it alone: more tokens still count for their organization, and who
 * comes from more addresses than that within a minute is not held by limits of addresses anyway.
 */
export class MemoryStore implements LimitStore {
  readonly #clock: Clock;
  readonly #logs = new Map<string, LRUCache<string, Log>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  take(layers: readonly Layer[]): readonly Standing[] {
    const now = this.#clock.now().getTime();
    const logs = layers.map((layer) => this.#logOf(layer));
    const waits = layers.map((layer, index) => waitMs(logs[index]!, layer.rate, now, layer.cost));
    const isAllowed = waits.every((wait) => wait === 0);
    return layers.map((layer, index) => {
      const log = logs[index]!;
      if (isAllowed) add(log, layer.rate, now, layer.cost);
      return { layer, count: countOf(log, layer.rate, now), waitMs: waits[index]!, resetMs: resetMs(log, layer.rate, now) };
    });
  }

  giveBack(layers: readonly Layer[]): void {
    for (const layer of layers) remove(this.#logOf(layer), layer.cost);
  }

  get size(): number {
    return [...this.#logs.values()].reduce((sum, { size }) => sum + size, 0);
  }

  async close(): Promise<void> {
    this.#logs.clear();
  }

  #logOf({ name, key }: Layer): Log {
    let logs = this.#logs.get(name);
    if (logs === undefined) this.#logs.set(name, (logs = new LRUCache({ max: keysMax })));
    let log = logs.get(key);
    if (log === undefined) logs.set(key, (log = []));
    return log;
  }
}
