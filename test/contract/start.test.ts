import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { z } from 'zod';
import { as, type HttpClient } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually, whenProcessed } from '../harness/eventually.ts';
import { idsOf, list, retrieve, store } from '../harness/memory.ts';
import { rawRequest } from '../harness/raw-request.ts';
import { freePort, isSplit, type Server, startServer } from '../harness/server.ts';
import { ErrorBody, expectBody, expectShape, MemoryObject } from '../harness/shapes.ts';
import { uniqueWord } from '../harness/words.ts';

describe('a first start', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startServer({ isFirstStart: true });
  });
  afterAll(() => server.stop());

  clause('START-CREDENTIALS-001', 'decisions §2: the first start writes credentials.json with mode 0600 and the promised fields', async () => {
    const file = join(server.dataDir, 'credentials.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const key = z.string().regex(/^qk_[A-Za-z0-9_-]{43}$/);
    const credentials = expectShape(
      JSON.parse(await readFile(file, 'utf8')),
      z.looseObject({
        base_url: z.string(),
        organization_id: z.string().min(1),
        vault_id: z.string().min(1),
        workspace_id: z.string().min(1),
        workspaces: z.strictObject({ default: z.string().min(1), research: z.string().min(1) }),
        api_keys: z.strictObject({ read_only: key, read_write: key, admin: key }),
        other_tenant: z.looseObject({ organization_id: z.string().min(1), api_keys: z.strictObject({ read_write: key, admin: key }) }),
      }),
    );
    expect(credentials.base_url).toBe(server.baseUrl);
    expect(credentials.other_tenant.organization_id).not.toBe(credentials.organization_id);
    expect(credentials.workspaces.research).not.toBe(credentials.workspaces.default);
  });

  clause('START-CREDENTIALS-002', 'decisions §2: the first start prints where the credentials are and three curl lines', async () => {
    expect(server.output()).toContain('credentials.json');
    expect(server.output().match(/curl /g)?.length ?? 0).toBeGreaterThanOrEqual(3);
  });
});

clause('START-SEED-001', 'decisions §2: SEED_DEMO=false creates no demo data and prints a one-time password of the Sovereign', async () => {
  await using server = await startServer({ isFirstStart: true, env: { SEED_DEMO: 'false' } });
  expect(server.output()).toMatch(/password/i);
  expect(() => server.credentials.api_keys.read_write).toThrow();
});

describe('a restart', () => {
  let server: Server;
  let client: HttpClient;
  beforeAll(async () => {
    server = await startServer();
    client = as(server, 'read_write');
  });
  afterAll(() => server.stop());

  clause('START-RESTART-001', 'decisions §2: a restart keeps credentials, objects, processing and search', async () => {
    const word = uniqueWord();
    const { id } = await store(client, { content: `The ${word} was moored beside the old lighthouse.`, metadata: { category: word } });
    const before = await whenProcessed(client, id);
    const keys = server.credentials.api_keys;
    await server.restart();
    expect(server.credentials.api_keys).toEqual(keys);
    expect(expectBody(await client.get(`/v1/memory/${id}`), 200, MemoryObject)).toEqual(before);
    const reader = as(server, 'read_only');
    expect(idsOf(await retrieve(reader, { keyword: word }))).toEqual([id]);
    expect(idsOf(await retrieve(reader, { q: 'a ship near a beacon', category: word }))).toEqual([id]);
  });

  clause('START-RESTART-002', 'interface §3.1: work that a kill interrupted is finished by itself after the next start', async () => {
    const word = uniqueWord();
    const { id } = await store(client, { content: `Interrupted ${word}.` });
    await server.kill();
    await server.restart();
    expect((await whenProcessed(client, id)).content).toBe(`Interrupted ${word}.`);
  });

  clause('START-CURSOR-001', 'decisions §5: a cursor outlives a restart within its 24 hours', async () => {
    const word = uniqueWord();
    for (const index of [1, 2, 3]) await store(client, { content: `${word} number ${index}` });
    const first = await eventually(async () => {
      const page = await list(client, { limit: 1 });
      expect(page.has_more).toBe(true);
      return page;
    });
    await server.restart();
    const second = await list(client, { limit: 1, cursor: first.next_cursor ?? '' });
    expect(second.results[0]?.id).not.toBe(first.results[0]?.id);
  });
});

clause('START-CONFIG-001', 'decisions §1: a malformed value stops the start with a message naming the variable', async () => {
  for (const [name, value] of [['MEMORY_SWEEP_SECONDS', 'soon'], ['CURSOR_TTL_SECONDS', '-5'], ['VAULT_RETENTION_SECONDS', 'long'], ['SEED_DEMO', 'perhaps']] as const) {
    await expect(startServer({ env: { [name]: value } }), name).rejects.toThrow(new RegExp(`exited with [1-9][\\s\\S]*${name}`));
  }
}, { skipIf: isSplit });

clause('START-CONFIG-002', 'decisions §1: plain HTTP on an address that is not loopback refuses to start and says why', async () => {
  await expect(startServer({ env: { HOST: '0.0.0.0' } })).rejects.toThrow(/exited with [1-9][\s\S]*(TLS|TRUST_PROXY)/);
}, { skipIf: isSplit });

describe.skipIf(isSplit)('behind a trusted proxy', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startServer({ env: { HOST: '0.0.0.0', TRUST_PROXY: 'true', METRICS_TOKEN: 'metrics-token-of-the-test' } });
  });
  afterAll(() => server.stop());

  clause('START-PROXY-001', 'decisions §1: behind a trusted proxy X-Forwarded-Proto http gets a 301 to X-Forwarded-Host, else Host', async () => {
    const forwarded = await rawRequest(`${server.baseUrl}/v1/memory?limit=1&cursor=a%20b`, { 'x-forwarded-proto': 'http', 'x-forwarded-host': 'api.example.com' });
    expect(forwarded.status).toBe(301);
    expect(forwarded.headers.location).toBe('https://api.example.com/v1/memory?limit=1&cursor=a%20b');
    const direct = await rawRequest(`${server.baseUrl}/healthz`, { 'x-forwarded-proto': 'http', host: 'other.example.com' });
    expect(direct.status).toBe(301);
    expect(direct.headers.location).toBe('https://other.example.com/healthz');
  });

  clause('START-PROXY-002', 'decisions §1: away from loopback GET /metrics needs METRICS_TOKEN as bearer', async () => {
    const https = { 'x-forwarded-proto': 'https' };
    expect((await rawRequest(`${server.baseUrl}/metrics`, https)).status).toBe(401);
    expect((await rawRequest(`${server.baseUrl}/metrics`, { ...https, authorization: 'Bearer wrong' })).status).toBe(401);
    expect((await rawRequest(`${server.baseUrl}/metrics`, { ...https, authorization: 'Bearer metrics-token-of-the-test' })).status).toBe(200);
  });
});

clause('START-TLS-001', 'decisions §1: TLS_CERT and TLS_KEY serve HTTPS, HTTP_REDIRECT_PORT answers 301 with the same path and query', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quadrivium-tls-'));
  try {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    await promisify(execFile)('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-subj', '/CN=localhost', '-days', '2', '-keyout', key, '-out', cert]);
    const redirectPort = await freePort();
    await using server = await startServer({ scheme: 'https', env: { TLS_CERT: cert, TLS_KEY: key, HTTP_REDIRECT_PORT: `${redirectPort}` } });
    expect((await rawRequest(`${server.baseUrl}/healthz`)).status).toBe(200);
    const redirect = await rawRequest(`http://127.0.0.1:${redirectPort}/v1/memory/retrieve?q=a%20b&limit=2`);
    expect(redirect.status).toBe(301);
    const location = new URL(redirect.headers.location ?? '');
    expect(location.protocol).toBe('https:');
    expect(location.hostname).toBe('127.0.0.1');
    expect(location.pathname + location.search).toBe('/v1/memory/retrieve?q=a%20b&limit=2');
  } finally {
    await rm(folder, { recursive: true });
  }
}, { skipIf: isSplit });

clause('START-HOSTS-001', 'decisions §1: once bound, an area\'s paths on another area\'s host answer 404', async () => {
  const port = await freePort();
  const env = { BASE_URL: `http://api.localhost:${port}`, LEARN_URL: `http://learn.localhost:${port}` };
  await using server = await startServer({ port, env });
  const authorization = `Bearer ${server.credentials.api_keys.read_write}`;
  const ask = (host: string) => rawRequest(`${server.baseUrl}/v1/memory`, { host: `${host}:${port}`, authorization });
  expect((await ask('api.localhost')).status).toBe(200);
  const elsewhere = await ask('learn.localhost');
  expect(elsewhere.status).toBe(404);
  expect(expectShape(JSON.parse(elsewhere.text), ErrorBody).error.code).toBe('not_found');
});

clause('START-READY-001', 'decisions §1: readyz is 503 naming the part that does not answer', async () => {
  await using server = await startServer();
  await server.killPiece('learning');
  const client = as(server, 'nobody');
  const answer = await eventually(async () => {
    const ready = await client.get('/readyz');
    expect(ready.status).toBe(503);
    return ready;
  });
  expect(answer.text).toContain('learning');
  expect((await client.get('/healthz')).status).toBe(200);
}, { skipIf: !isSplit });
