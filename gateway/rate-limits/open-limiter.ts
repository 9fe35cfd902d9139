import type { Logger } from 'pino';
import type { Clock } from '#platform/clock.ts';
import type { Config } from '#platform/config.ts';
import { Limiter } from './limiter.ts';
import { MemoryStore } from './memory-store.ts';
import { readPolicy } from './policy.ts';
import { RedisStore } from './redis-store.ts';

/** Null when nothing is limited. */
export async function openLimiter(config: Config, clock: Clock, logger: Logger): Promise<Limiter | null> {
  const policy = readPolicy(config);
  if (policy === null) return null;
  const memory = new MemoryStore(clock);
  return new Limiter(policy, config.redisUrl === null ? memory : await RedisStore.open(config.redisUrl, memory, logger), clock);
}
