import { existsSync, readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Config } from '#platform/config.ts';
import type { Database } from '#platform/database/database.ts';
import { DomainError } from '#platform/errors.ts';

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
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from a request to its answer, by route and status.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers: [registry],
  });
  new Gauge({ name: 'live_connections', help: 'Open WebSocket connections.', registers: [registry], collect() { this.set(live().connections); } });
  new Gauge({ name: 'live_subscriptions', help: 'Subscriptions that wait for events.', registers: [registry], collect() { this.set(live().subscriptions); } });
  // Looking a child up by its labels hashes them, 4 µs a request; routes and statuses are few.
  const children = new Map<string, Histogram.Internal<string>>();
  http.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    const key = `${request.method} ${route} ${reply.statusCode}`;
    const child = children.get(key) ?? duration.labels(request.method, route, String(reply.statusCode));
    children.set(key, child);
    child.observe(reply.elapsedTime / 1000);
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
