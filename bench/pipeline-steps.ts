import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { systemClock } from '#platform/clock.ts';
import { readConfig } from '#platform/config.ts';
import type { Config } from '#platform/config.ts';
import { openDatabase } from '#platform/database/database.ts';
import { createHttp } from '../gateway/http.ts';
import { createAuthenticator } from '../gateway/identity/authenticate.ts';
import { signingKeyOf } from '../gateway/oauth/signing-key.ts';
import { createPipeline } from '../gateway/pipeline.ts';
import type { PipelineOptions } from '../gateway/pipeline.ts';
import { openLimiter } from '../gateway/rate-limits/open-limiter.ts';
import { RequestQuota } from '../gateway/rate-limits/request-quota.ts';
import type { Ground } from './harness.ts';
import { median, ownCpuSeconds } from './report.ts';
import type { Report } from './report.ts';

const roundsPerStep = 15;
const requestsPerRound = 2_000;
const checkMicrosecondsMax = 5;

/**
 * What each step of the pipeline adds, in this process and without sockets: the same answer from a Fastify with one step more
 * each time, in interleaved rounds. `wide` names a RATE_LIMIT_FILE whose limits nobody reaches.
 */
export async function measureSteps(report: Report, ground: Ground, wide: string): Promise<void> {
  const config: Config = { ...readConfig({ DATA_DIR: ground.dataDir }), databaseUrl: ground.databaseUrl, rateLimitFile: wide };
  const logger = pino({ level: 'warn' });
  const database = await openDatabase({ url: config.databaseUrl, dataDir: config.dataDir, entities: [], poolMax: 2, logger });
  const { api_keys: keys } = JSON.parse(await readFile(join(ground.dataDir, 'credentials.json'), 'utf8')) as { api_keys: { read_write: string } };
  const headers = { authorization: `Bearer ${keys.read_write}` };
  const authenticator = createAuthenticator(database, systemClock, config, { issuer: () => '', publicKey: signingKeyOf(Buffer.alloc(32)).publicKey });
  const limiter = (await openLimiter(config, systemClock, logger))!;
  const quota = new RequestQuota({ max: Number.MAX_SAFE_INTEGER, fork: () => database.orm.em.fork(), clock: systemClock, logger });
  const withPipeline = (options: Pick<PipelineOptions, 'limiter' | 'quota'>): FastifyInstance => {
    const http = createHttp(config, logger);
    const pipeline = createPipeline({ ...options, authenticator, isRepeat: async () => false });
    pipeline.mount(http);
    http.get('/v1/memory/:id', { config: { entrance: 'credential' } }, async (request) => {
      pipeline.contextOf(request);
      return answer;
    });
    return http;
  };
  const answer = { id: 'mem_1', status: 'stored' };
  const alone = Fastify();
  const withIds = createHttp(config, logger);
  for (const http of [alone, withIds]) http.get('/v1/memory/:id', async () => answer);
  const stages: readonly (readonly [string, FastifyInstance])[] = [
    ['handler alone', alone],
    ['request id, listener', withIds],
    ['authentication (key known), context', withPipeline({ limiter: null, quota: null })],
    ['rate limits with their headers', withPipeline({ limiter, quota: null })],
    ['monthly quota of requests', withPipeline({ limiter, quota })],
  ];

  const taken = stages.map((): number[] => []);
  for (let round = 0; round <= roundsPerStep; round += 1) {
    for (const [index, [, http]] of stages.entries()) {
      const before = ownCpuSeconds();
      for (let request = 0; request < requestsPerRound; request += 1) {
        const { statusCode } = await http.inject({ url: '/v1/memory/mem_1', headers });
        if (statusCode !== 200) throw new Error(`A step answered ${statusCode}.`);
      }
      // The first round warms up.
      if (round > 0) taken[index]!.push(((ownCpuSeconds() - before) * 1e6) / requestsPerRound);
    }
  }
  report.heading(`Steps of the pipeline, CPU in one process, ${roundsPerStep} rounds of ${requestsPerRound}`);
  const medians = taken.map(median);
  stages.forEach(([name], index) => report.figure(name, index === 0 ? `${medians[0]!.toFixed(1)} µs` : `+${(medians[index]! - medians[index - 1]!).toFixed(1)} µs`));

  const principal = await authenticator.authenticate(headers);
  const checks: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const before = ownCpuSeconds();
    for (let check = 0; check < 50_000; check += 1) await limiter.take({ principal, address: '127.0.0.1', kind: 'read', cost: 1, endpoints: [] });
    checks.push(((ownCpuSeconds() - before) * 1e6) / 50_000);
  }
  report.target(`rate-limit check in memory ≤ ${checkMicrosecondsMax} µs`, median(checks) <= checkMicrosecondsMax, `${median(checks).toFixed(1)} µs`);

  await quota.close();
  await limiter.close();
  await database.close();
}
