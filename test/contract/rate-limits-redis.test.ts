import { expect } from 'vitest';
import { as } from '../harness/actors.ts';
import type { Answer, HttpClient } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { hasRedis, startRedis } from '../harness/redis.ts';
import { adminDatabaseUrl, isSplit, startServer } from '../harness/server.ts';
import { expectLimited } from '../harness/shapes.ts';

if (!hasRedis) console.warn('No redis-server on this machine: the clauses of rate limits in Redis are skipped (apt-get install redis-server).');
if (adminDatabaseUrl === undefined || isSplit) console.warn('Two gateways on one database need TEST_DATABASE_URL, without TEST_SPLIT: their clause is skipped.');

const read = (client: HttpClient): Promise<Answer> => client.get('/v1/memory?limit=1');
const env = { RATE_LIMIT_PROFILE: 'guide' };

clause('LIMIT-REDIS-001', 'decisions §7: two gateways on one Redis share a limit exactly', async () => {
  await using redis = await startRedis();
  await using first = await startServer({ env: { ...env, REDIS_URL: redis.url } });
  await using second = await startServer({ dataDir: first.dataDir, env: { ...env, REDIS_URL: redis.url, DATABASE_URL: first.databaseUrl! } });
  const clients = [as(first, 'read_only'), as({ ...second, credentials: first.credentials }, 'read_only')];
  const answers = await Promise.all(Array.from({ length: 800 }, (_, index) => read(clients[index % 2]!)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(750);
  const remaining = answers.map(({ headers }) => Number(headers.get('x-ratelimit-remaining'))).sort((a, b) => b - a);
  expect(remaining.slice(0, 600)).toEqual(Array.from({ length: 600 }, (_, index) => 599 - index));
  for (const client of clients) {
    const refused = await read(client);
    expect(expectLimited(refused).scope).toBe('token');
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
  }
  // The hour of the exports too.
  expect((await as(first, 'admin').post('/api/exports/full')).status).toBe(201);
  expect(expectLimited(await as({ ...second, credentials: first.credentials }, 'admin').post('/api/exports/full')).scope).toBe('endpoint');
}, { skipIf: !hasRedis || adminDatabaseUrl === undefined || isSplit });

clause('LIMIT-REDIS-002', 'decisions §7: while Redis is away a gateway serves and counts for itself, warns, and takes it up again', async () => {
  const redis = await startRedis();
  await using server = await startServer({ env: { ...env, REDIS_URL: redis.url } });
  const client = as(server, 'read_only');
  const remainingOf = async (): Promise<number> => {
    const answer = await read(client);
    expect(answer.status).toBe(200);
    return Number(answer.headers.get('x-ratelimit-remaining'));
  };
  expect(await remainingOf()).toBe(599);
  expect(await remainingOf()).toBe(598);
  await redis.stop();
  for (const expected of [599, 598, 597]) expect(await remainingOf()).toBe(expected);
  expect(server.output().match(/Redis does not answer/g)).toHaveLength(1);
  await using _again = await startRedis(Number(new URL(redis.url).port));
  // A new Redis has counted nothing; this gateway has.
  await expect.poll(remainingOf, { timeout: 60_000, interval: 100 }).toBe(599);
  expect(await remainingOf()).toBe(598);
}, { skipIf: !hasRedis });

clause('LIMIT-REDIS-003', 'decisions §7: a gateway starts without Redis', async () => {
  await using server = await startServer({ env: { ...env, REDIS_URL: 'redis://127.0.0.1:1' } });
  expect((await read(as(server, 'read_only'))).status).toBe(200);
  expect(server.output()).toContain('Redis does not answer');
});
