import { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { bucketsPerWindow, capacityOf } from '#platform/sliding-window.ts';
import type { MemoryStore } from './memory-store.ts';
import type { Layer, LimitStore, Standing } from './store.ts';

/** A gateway in the same machine room answers within one. */
const answerWithinMs = 200;
/** Redis is away: for so long nobody waits for it again. */
const retryAfterMs = 1_000;
const warnEveryMs = 60_000;

/**
 * Counts in Redis, so that several gateways share one limit exactly: one round trip for all layers of a request, by the clock
 * of Redis. While it is away each gateway counts for itself, which lets through more and never less than allowed.
 */
export class RedisStore implements LimitStore {
  readonly #redis: Counting;
  readonly #local: MemoryStore;
  readonly #logger: Logger;
  #awayUntil = 0;
  #warnedAt = -Infinity;

  private constructor(redis: Counting, local: MemoryStore, logger: Logger) {
    this.#redis = redis;
    this.#local = local;
    this.#logger = logger;
    // Without a listener an error of the connection would end the process.
    redis.on('error', (error) => this.#warn(error));
  }

  /** A gateway starts without Redis too. */
  static async open(url: string, local: MemoryStore, logger: Logger): Promise<RedisStore> {
    const redis = new Redis(url, {
      lazyConnect: true,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: 2_000,
      commandTimeout: answerWithinMs,
      retryStrategy: (attempt) => Math.min(attempt * 200, 2_000),
      scripts: { takeLayers: { lua: takeLayers }, giveBackLayers: { lua: giveBackLayers } },
    }) as Counting;
    const store = new RedisStore(redis, local, logger);
    await redis.connect().catch((error: unknown) => store.#warn(error));
    return store;
  }

  async take(layers: readonly Layer[]): Promise<readonly Standing[]> {
    const figures = await this.#ask(() => this.#redis.takeLayers(layers.length, ...layers.map(keyOf), ...layers.flatMap(({ rate, cost }) => [rate.windowMs, capacityOf(rate), cost])));
    if (figures === undefined) return this.#local.take(layers);
    return layers.map((layer, index) => ({ layer, count: figures[3 * index]!, waitMs: figures[3 * index + 1]!, resetMs: figures[3 * index + 2]! }));
  }

  async giveBack(layers: readonly Layer[]): Promise<void> {
    const done = await this.#ask(() => this.#redis.giveBackLayers(layers.length, ...layers.map(keyOf), ...layers.map(({ cost }) => cost)));
    if (done === undefined) this.#local.giveBack(layers);
  }

  async close(): Promise<void> {
    this.#redis.disconnect();
  }

  async #ask<T>(command: () => Promise<T>): Promise<T | undefined> {
    if (performance.now() < this.#awayUntil) return undefined;
    try {
      return await command();
    } catch (error) {
      this.#awayUntil = performance.now() + retryAfterMs;
      this.#warn(error);
      return undefined;
    }
  }

  #warn(error: unknown): void {
    if (performance.now() - this.#warnedAt < warnEveryMs) return;
    this.#warnedAt = performance.now();
    this.#logger.warn({ err: error }, 'Redis does not answer: this gateway counts rate limits for itself');
  }
}

type Counting = Redis & {
  takeLayers(keys: number, ...given: (string | number)[]): Promise<number[]>;
  giveBackLayers(keys: number, ...given: (string | number)[]): Promise<number>;
};

const keyOf = ({ name, key }: Layer): string => `quadrivium:${name}:${key}`;

/** platform/sliding-window.ts once more; a log is from, last, count, from, last, count … */
const takeLayers = `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local states, allowed = {}, true
  for index, key in ipairs(KEYS) do
    local window, capacity, cost = tonumber(ARGV[3 * index - 2]), tonumber(ARGV[3 * index - 1]), tonumber(ARGV[3 * index])
    local stored = redis.call('GET', key)
    local log, count = {}, 0
    if stored then
      local old = cmsgpack.unpack(stored)
      for at = 1, #old, 3 do
        if old[at + 1] + window > now then
          log[#log + 1], log[#log + 2], log[#log + 3] = old[at], old[at + 1], old[at + 2]
          count = count + old[at + 2]
        end
      end
    end
    local wait, excess = 0, count + cost - capacity
    if excess > 0 then
      allowed, wait = false, window
      for at = 1, #log, 3 do
        excess = excess - log[at + 2]
        if excess <= 0 then
          wait = log[at + 1] + window - now
          break
        end
      end
    end
    states[index] = { log = log, count = count, wait = wait, window = window, cost = cost }
  end
  local answer = {}
  for index, key in ipairs(KEYS) do
    local state = states[index]
    local log = state.log
    if allowed then
      local newest = #log - 2
      if newest > 0 and now - log[newest] < state.window / ${bucketsPerWindow} then
        log[newest + 1], log[newest + 2] = math.max(log[newest + 1], now), log[newest + 2] + state.cost
      else
        log[#log + 1], log[#log + 2], log[#log + 3] = now, now, state.cost
      end
      state.count = state.count + state.cost
      redis.call('SET', key, cmsgpack.pack(log), 'PX', state.window)
    end
    answer[#answer + 1] = state.count
    answer[#answer + 1] = state.wait
    answer[#answer + 1] = #log == 0 and 0 or log[#log - 1] + state.window - now
  end
  return answer`;

const giveBackLayers = `
  for index, key in ipairs(KEYS) do
    local stored = redis.call('GET', key)
    if stored then
      local log = cmsgpack.unpack(stored)
      log[#log] = log[#log] - tonumber(ARGV[index])
      if log[#log] <= 0 then log[#log], log[#log - 1], log[#log - 2] = nil, nil, nil end
      if #log == 0 then redis.call('DEL', key) else redis.call('SET', key, cmsgpack.pack(log), 'KEEPTTL') end
    end
  end
  return 1`;
