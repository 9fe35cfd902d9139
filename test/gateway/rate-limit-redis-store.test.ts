import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '#platform/clock.ts';
import { MemoryStore } from '../../gateway/rate-limits/memory-store.ts';
import { RedisStore } from '../../gateway/rate-limits/redis-store.ts';
import type { Layer, Standing } from '../../gateway/rate-limits/store.ts';
import { hasRedis, startRedis } from '../harness/redis.ts';
import type { RedisServer } from '../harness/redis.ts';

if (!hasRedis) console.warn('No redis-server on this machine: the tests of the store in Redis are skipped.');

const layer = (name: string, limit: number, windowMs = 60_000): Layer => ({ scope: 'token', name, key: '{org_1}', rate: { limit, burst: 0, windowMs }, cost: 1 });

const isAllowed = (standings: readonly Standing[]): boolean => standings.every(({ waitMs }) => waitMs === 0);

describe.skipIf(!hasRedis)('rate limits in Redis', () => {
  let server: RedisServer;
  let stores: RedisStore[];
  let redis: Redis;
  beforeAll(async () => {
    server = await startRedis();
    redis = new Redis(server.url);
    // Two gateways.
    stores = await Promise.all([1, 2].map(() => RedisStore.open(server.url, new MemoryStore(systemClock), pino({ level: 'silent' }))));
  });
  afterAll(async () => {
    redis.disconnect();
    await Promise.all(stores.map((store) => store.close()));
    await server.stop();
  });

  it('allows exactly as many as the limit, however gateways mix', async () => {
    const taken = await Promise.all(Array.from({ length: 500 }, (_, index) => stores[index % 2]!.take([layer('shared', 200)])));
    expect(taken.filter(isAllowed)).toHaveLength(200);
    expect(new Set(taken.filter(isAllowed).map(([standing]) => standing!.count)).size).toBe(200);
  });

  it('counts a request in all layers, or, when one of them has no room, in none', async () => {
    const [store] = stores;
    for (let sent = 0; sent < 3; sent += 1) expect(isAllowed(await store!.take([layer('narrow', 3), layer('wide', 5)]))).toBe(true);
    for (let sent = 0; sent < 20; sent += 1) {
      const refused = await store!.take([layer('narrow', 3), layer('wide', 5)]);
      expect(refused.map(({ count }) => count)).toEqual([3, 3]);
      expect(refused[0]!.waitMs).toBeGreaterThan(55_000);
      expect(refused[1]!.waitMs).toBe(0);
    }
    expect((await store!.take([layer('wide', 5)]))[0]!.count).toBe(4);
  });

  it('answers what the store in memory answers', async () => {
    // Hours long, so that the time between two calls is nothing.
    const memory = new MemoryStore(systemClock);
    for (let step = 0; step < 60; step += 1) {
      const layers = [layer('a', 7, 3_600_000), { ...layer('b', 20, 7_200_000), cost: 1 + (step % 3) }];
      if (step % 11 === 10) {
        memory.giveBack(layers);
        await stores[0]!.giveBack(layers);
      }
      const [expected, found] = [memory.take(layers), await stores[step % 2]!.take(layers)];
      expect(found.map(({ count }) => count)).toEqual(expected.map(({ count }) => count));
      found.forEach(({ waitMs, resetMs }, index) => {
        expect(Math.abs(waitMs - expected[index]!.waitMs)).toBeLessThan(2_000);
        expect(Math.abs(resetMs - expected[index]!.resetMs)).toBeLessThan(2_000);
      });
    }
  });

  it('leaves nothing behind: every key goes with its window', async () => {
    await stores[0]!.take([layer('short', 5, 300), layer('long', 5, 3_600_000)]);
    const [short, long] = await Promise.all([redis.pttl('quadrivium:short:{org_1}'), redis.pttl('quadrivium:long:{org_1}')]);
    expect(short).toBeLessThanOrEqual(300);
    expect(long).toBeGreaterThan(3_590_000);
    expect(long).toBeLessThanOrEqual(3_600_000);
    for (const key of await redis.keys('quadrivium:*')) expect(await redis.pttl(key)).not.toBe(-1);
    await expect.poll(() => redis.exists('quadrivium:short:{org_1}')).toBe(0);
  });
});
