import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { z } from 'zod';
import { as } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { rawRequest } from '../harness/raw-request.ts';
import { repositoryRoot } from '../harness/server.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { expectBody, expectError } from '../harness/shapes.ts';

const server = sharedServer();
const nobody = as(server, 'nobody');

const operationalPaths = ['/healthz', '/readyz', '/version'];

clause('OP-HEALTH-001', 'interface §4.2: GET /healthz is 200 without a credential', async () => {
  expect((await nobody.get('/healthz')).status).toBe(200);
});

clause('OP-READY-001', 'interface §4.2: GET /readyz is 200 without a credential', async () => {
  expect((await nobody.get('/readyz')).status).toBe(200);
});

clause('OP-VERSION-001', 'decisions §1: GET /version answers name, version of package.json, api_version and commit', async () => {
  const version = expectBody(
    await nobody.get('/version'),
    200,
    z.strictObject({ name: z.string().min(1), version: z.string(), api_version: z.string().min(1), commit: z.string() }),
  );
  const manifest = JSON.parse(await readFile(join(repositoryRoot, 'package.json'), 'utf8')) as { version: string };
  expect(version.version).toBe(manifest.version);
});

clause('OP-SECRETS-001', 'decisions §1: healthz, readyz and version reveal no secret', async () => {
  for (const path of operationalPaths) {
    const { status, text } = await nobody.get(path);
    expect(status, path).toBe(200);
    expect(text, path).not.toMatch(/qk_|qs_|qp_|postgres(ql)?:\/\/|secret|password/i);
  }
});

clause('OP-METRICS-001', 'decisions §1: GET /metrics speaks Prometheus and is open on a loopback address', async () => {
  const answer = await nobody.get('/metrics');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain\b/);
  expect(answer.text).toMatch(/^# TYPE \w+ (counter|gauge|histogram|summary)$/m);
});

clause('OP-OPENAPI-001', 'decisions §1: GET /openapi.json describes every path of memory, keys and exports', async () => {
  const description = expectBody(
    await nobody.get('/openapi.json'),
    200,
    z.looseObject({ openapi: z.string().regex(/^3\./), info: z.looseObject({ title: z.string(), version: z.string() }), paths: z.record(z.string(), z.record(z.string(), z.unknown())) }),
  );
  const described = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '{}')}`),
  );
  expect(described).toEqual(
    expect.arrayContaining([
      'POST /v1/memory/store',
      'POST /v1/memory/batch',
      'GET /v1/memory/retrieve',
      'GET /v1/memory',
      'GET /v1/memory/{}',
      'PATCH /v1/memory/{}',
      'DELETE /v1/memory/{}',
      'POST /v1/memory/{}/restore',
      'GET /v1/memory/{}/related',
      'GET /v1/memory/stats',
      'POST /v1/api-keys',
      'GET /v1/api-keys',
      'DELETE /v1/api-keys/{}',
      'POST /api/exports/full',
      'GET /api/exports/{}',
      'GET /healthz',
      'GET /readyz',
      'GET /version',
    ]),
  );
});

clause('OP-DOCS-001', 'decisions §1: /docs is a readable API reference', async () => {
  const answer = await nobody.get('/docs');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^text\/html\b/);
  expect(answer.text).toContain('/v1/memory/store');
});

clause('OP-V0-001', 'decisions §1: /v0/... answers 404 not_found whose message names /v1', async () => {
  for (const path of ['/v0/memory/retrieve?q=x', '/v0/', '/v0/anything/else']) {
    expect(expectError(await as(server, 'read_write').get(path), 404, 'not_found').message, path).toContain('/v1');
  }
  expectError(await as(server, 'read_write').post('/v0/memory/store', { content: 'x' }), 404, 'not_found');
});

clause('OP-UNKNOWN-001', 'interface §7: an unknown path answers 404 not_found in the standard body', async () => {
  expectError(await as(server, 'admin').get('/v1/nothing-here'), 404, 'not_found');
  expectError(await as(server, 'admin').get('/nothing-here'), 404, 'not_found');
});

clause('OP-REQUEST-ID-001', 'interface §4: every response carries X-Request-Id', async () => {
  const paths = [...operationalPaths, '/metrics', '/openapi.json', '/docs', '/v0/x', '/v1/memory', '/v1/nothing', '/v1/memory/mem_unknown', '/v1/memory/retrieve'];
  for (const actor of ['nobody', 'read_write'] as const) {
    for (const path of paths) {
      expect((await as(server, actor).get(path)).headers.get('x-request-id'), `${actor} ${path}`).toMatch(/./);
    }
  }
  expect((await nobody.post('/graphql', { query: '{ __typename }' })).headers.get('x-request-id')).toMatch(/./);
});

clause('OP-REQUEST-ID-002', 'decisions §4: a caller\'s X-Request-Id of 1 to 128 characters of [A-Za-z0-9._-] is kept', async () => {
  for (const id of ['a', 'Trace.1_2-3', 'x'.repeat(128)]) {
    expect((await nobody.get('/healthz', { 'x-request-id': id })).headers.get('x-request-id')).toBe(id);
    const refused = await nobody.get('/v1/memory', { 'x-request-id': id });
    expect(expectError(refused, 401, 'unauthenticated').request_id).toBe(id);
  }
});

clause('OP-REQUEST-ID-003', 'decisions §4: any other X-Request-Id is replaced by a new one', async () => {
  for (const id of ['x'.repeat(129), 'with space', 'semi;colon', 'slash/', 'ünïcode']) {
    const { headers } = await rawRequest(`${server.baseUrl}/healthz`, { 'x-request-id': Buffer.from(id).toString('latin1') });
    expect(headers['x-request-id']).toMatch(/./);
    expect(headers['x-request-id']).not.toBe(id);
  }
});

clause('OP-REQUEST-ID-004', 'decisions §4: a made X-Request-Id is new for every request', async () => {
  const ids = await Promise.all(Array.from({ length: 20 }, async () => (await nobody.get('/healthz')).headers.get('x-request-id')));
  expect(new Set(ids).size).toBe(20);
});
