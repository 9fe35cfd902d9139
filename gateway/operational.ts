import { existsSync, readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Config } from '#platform/config.ts';
import type { Database } from '#platform/database/database.ts';
import { DomainError } from '#platform/errors.ts';
import { RequestDurations } from './request-durations.ts';

/** A part whose answer readiness waits for. */
export interface Part {
  readonly name: string;
  /** Throws when it does not answer. */
  check(): Promise<unknown>;
}

export interface Version {
  readonly name: string;
  readonly version: string;
  readonly api_version: 'v1';
  readonly commit: string;
}

/** The product's own version from package.json; the commit that the build recorded beside its files. */
export function readVersion(): Version {
  const { name, version } = JSON.parse(readFileSync(new URL(import.meta.resolve('#package')), 'utf8')) as { name: string; version: string };
  const record = new URL('../.commit', import.meta.url);
  return { name, version, api_version: 'v1', commit: existsSync(record) ? readFileSync(record, 'utf8').trim() : 'unknown' };
}

const exempt = { config: { entrance: 'exempt' } } as const;

/** /healthz, /readyz, /version and /metrics: no credential, no limit, no secret. */
export function mountOperational(http: FastifyInstance, config: Config, parts: readonly Part[], live: () => { connections: number; subscriptions: number }): void {
  const version = readVersion();
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const durations = new RequestDurations();
  registry.registerMetric(durations.metric);
  new Gauge({ name: 'live_connections', help: 'Open WebSocket connections.', registers: [registry], collect() { this.set(live().connections); } });
  new Gauge({ name: 'live_subscriptions', help: 'Subscriptions that wait for events.', registers: [registry], collect() { this.set(live().subscriptions); } });
  http.addHook('onResponse', (request, reply, done) => {
    const { config, url = 'none' } = request.routeOptions;
    durations.observe(config, request.method, url, reply.statusCode, reply.elapsedTime / 1000);
    done();
  });

  http.get('/healthz', exempt, async () => ({ status: 'ok' }));
  http.get('/version', exempt, async () => version);
  http.get('/readyz', exempt, async (_request, reply) => {
    const checks = await Promise.all(parts.map(async (part) => [part.name, await part.check().then(() => 'ok', () => 'failed')] as const));
    const isReady = checks.every(([, state]) => state === 'ok');
    return reply.code(isReady ? 200 : 503).headers(isReady ? {} : { 'retry-after': '1' }).send({ status: isReady ? 'ready' : 'unavailable', checks: Object.fromEntries(checks) });
  });
  http.get('/metrics', exempt, async (request, reply) => {
    const isLoopback = ['127.0.0.1', '::1', 'localhost'].includes(config.host);
    const holdsToken = config.metricsToken !== null && request.headers.authorization === `Bearer ${config.metricsToken}`;
    if (!isLoopback && !holdsToken) throw new DomainError('unauthenticated', 'Metrics need METRICS_TOKEN as bearer token.');
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}

export const databasePart = (database: Database): Part => ({ name: 'database', check: () => database.execute('select 1') });
