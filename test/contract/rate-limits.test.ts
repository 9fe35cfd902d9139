import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect } from 'vitest';
import { as } from '../harness/actors.ts';
import type { Answer, HttpClient } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { startServer } from '../harness/server.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { BatchReceipt, expectBody, expectError, expectLimited, StoreReceipt } from '../harness/shapes.ts';
import { uniqueWord } from '../harness/words.ts';

// Three installations run at once here; in pieces they would ask for more connections than PostgreSQL has.
const guide = { RATE_LIMIT_PROFILE: 'guide', DATABASE_POOL_MAX: '3' };
// As installed, but behind a proxy, so that a test can come from any address.
const server = await startServer({ env: { ...guide, TRUST_PROXY: 'true' } });
const folder = await mkdtemp(join(tmpdir(), 'quadrivium-limits-'));
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

const exempt = ['/healthz', '/readyz', '/version', '/metrics'];
const from = (address: string) => ({ 'x-forwarded-for': address });

interface Limits {
  readonly limit: number;
  readonly remaining: number;
  readonly resetsInSeconds: number;
  readonly scope: string;
}

/** The four headers, complete and agreeing with the two of the IETF draft. */
function limitsOf({ headers, text }: Answer): Limits {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) => Number(headers.get(`x-ratelimit-${name}`) ?? expect.fail(`no x-ratelimit-${name} with ${text.slice(0, 200)}`))) as [number, number, number];
  // By the answer's own moment: it may be read later.
  const resetsInSeconds = reset - Date.parse(headers.get('date') ?? expect.fail('no Date')) / 1000;
  const scope = headers.get('x-ratelimit-scope') ?? '';
  expect(['token', 'org', 'endpoint']).toContain(scope);
  const [, name, r, t] = /^"([^"]+)";r=(\d+);t=(\d+)$/.exec(headers.get('ratelimit') ?? '') ?? expect.fail(`RateLimit: ${headers.get('ratelimit')}`);
  expect(Number(r)).toBe(remaining);
  expect(Math.abs(Number(t) - resetsInSeconds)).toBeLessThan(3);
  const policies = (headers.get('ratelimit-policy') ?? '').split(', ').map((one) => /^"([^"]+)";q=(\d+);w=(\d+)$/.exec(one) ?? expect.fail(`RateLimit-Policy: ${one}`));
  expect(policies.find((policy) => policy[1] === name)?.[2]).toBe(String(limit));
  return { limit, remaining, resetsInSeconds, scope };
}

const expectNoLimits = ({ headers }: Answer): void => expect([...headers.keys()].filter((name) => /ratelimit/.test(name))).toEqual([]);

/** So many at a time that a window of 60 s holds them all, and answers in the order in which they were counted. */
async function times(count: number, ask: () => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = [];
  while (answers.length < count) answers.push(...(await Promise.all(Array.from({ length: Math.min(16, count - answers.length) }, ask))));
  return answers;
}

const countOf = (answers: readonly Answer[], status: number): number => answers.filter((answer) => answer.status === status).length;
const read = (client: HttpClient) => () => client.get('/v1/memory?limit=1');
/** Refused for its body, and counted all the same. */
const write = (client: HttpClient) => () => client.post('/v1/memory/store', { content: '' });
const query = (client: HttpClient, text: string, headers?: Record<string, string>) => client.post('/graphql', { query: text }, headers);

clause('LIMIT-TOKEN-001', 'interface §8.1: a token reads 600 times a minute, and a quarter more in a burst, during which Remaining stays 0', async () => {
  const client = as(server, 'read_only');
  const first = await read(client)();
  const { resetsInSeconds, ...limits } = limitsOf(first);
  expect(limits).toEqual({ limit: 600, remaining: 599, scope: 'token' });
  expect(resetsInSeconds).toBeGreaterThan(57);
  expect(resetsInSeconds).toBeLessThan(62);
  const answers = await times(769, read(client));
  expect(countOf(answers, 200)).toBe(749);
  expect(countOf(answers, 429)).toBe(20);
  const remaining = answers.map((answer) => limitsOf(answer).remaining).sort((a, b) => b - a);
  expect(remaining.slice(0, 599)).toEqual(Array.from({ length: 599 }, (_, index) => 598 - index));
  expect(new Set(remaining.slice(599))).toEqual(new Set([0]));
  expect(new Set(answers.map((answer) => limitsOf(answer).limit))).toEqual(new Set([600]));
});

clause('LIMIT-429-001', 'interface §7.2: 429 is a problem with type, title, status, detail and scope, with code and request_id, and Retry-After in seconds', async () => {
  const refused = await read(as(server, 'read_only'))();
  const problem = expectLimited(refused);
  expect(problem).toMatchObject({ type: `${server.baseUrl}/docs/api-errors#rate_limit_exceeded`, scope: 'token' });
  expect(limitsOf(refused)).toMatchObject({ limit: 600, remaining: 0, scope: 'token' });
  const retryAfter = Number(refused.headers.get('retry-after'));
  expect(retryAfter).toBeLessThanOrEqual(60);
  expect(problem.detail).toContain(`${retryAfter} second`);
  const page = await as(server, 'nobody').get(new URL(problem.type).pathname, from('198.51.100.7'));
  expect(page.status).toBe(200);
  expect(page.text).toContain('id="rate_limit_exceeded"');
});

clause('LIMIT-429-002', 'interface §8.1: over GraphQL a refusal is an error with code rate_limit_exceeded, HTTP 429 and the same headers', async () => {
  const refused = await query(as(server, 'read_only'), '{ organization { id } }');
  expect(refused.status).toBe(429);
  expect(refused.body).toEqual({
    errors: [{ message: expect.any(String), extensions: { code: 'rate_limit_exceeded', status: 429, scope: 'token', retry_after_seconds: Number(refused.headers.get('retry-after')), request_id: refused.headers.get('x-request-id') } }],
  });
  expect(limitsOf(refused)).toMatchObject({ limit: 600, remaining: 0, scope: 'token' });
  // What cannot be resolved is a read too.
  const unreadable = await query(as(server, 'read_only'), '{');
  expect(unreadable.status).toBe(429);
  expect(unreadable.body).toMatchObject({ errors: [{ extensions: { code: 'rate_limit_exceeded', request_id: unreadable.headers.get('x-request-id') } }] });
});

clause('LIMIT-TOKEN-002', 'interface §8.1: a token writes 120 times a minute and 30 more in a burst; reads and writes count apart', async () => {
  const client = as(server, 'read_write');
  expect(limitsOf(await write(client)())).toMatchObject({ limit: 120, remaining: 119, scope: 'token' });
  const answers = await times(159, write(client));
  expect(countOf(answers, 400)).toBe(149);
  expect(countOf(answers, 429)).toBe(10);
  expect(limitsOf(await read(client)())).toMatchObject({ limit: 600, remaining: 599 });
});

clause('LIMIT-TOKEN-003', 'interface §8.1: a service account has limits of its own, higher ones', async () => {
  const client = as(server, 'service_account');
  expect(limitsOf(await read(client)())).toMatchObject({ limit: 3000, remaining: 2999, scope: 'token' });
  expect(limitsOf(await write(client)())).toMatchObject({ limit: 600, remaining: 599, scope: 'token' });
});

clause('LIMIT-TOKEN-004', 'decisions §7: sessions and publishers are tokens too, each with its own count', async () => {
  for (const actor of ['viewer_user', 'editor_user', 'publisher', 'other_read_write'] as const) {
    expect(limitsOf(await read(as(server, actor))()), actor).toMatchObject({ limit: 600, remaining: 599, scope: 'token' });
  }
});

clause('LIMIT-BATCH-001', 'decisions §7: a batch of many objects counts as one write', async () => {
  const client = as(server, 'other_read_write');
  const memories = Array.from({ length: 100 }, () => ({ content: uniqueWord() }));
  const before = limitsOf(await write(client)()).remaining;
  const answer = await client.post('/v1/memory/batch', { memories });
  expect(expectBody(answer, 201, BatchReceipt).stored).toBe(100);
  expect(limitsOf(answer).remaining).toBe(before - 1);
});

clause('LIMIT-GRAPH-001', 'decisions §7: a query counts as one read, a mutation as one write for each of its fields, also in fragments', async () => {
  const client = as(server, 'admin_user');
  expect(limitsOf(await query(client, '{ organization { id } workspaces { edges { node { id } } } }'))).toMatchObject({ limit: 600, remaining: 599 });
  expect(limitsOf(await query(client, 'mutation { deleteMemory(id: "mem_1") { id } }'))).toMatchObject({ limit: 120, remaining: 119 });
  const three = 'mutation { a: deleteMemory(id: "mem_1") { id } ... on Mutation { b: deleteMemory(id: "mem_2") { id } ...more } } fragment more on Mutation { c: deleteMemory(id: "mem_3") { id } }';
  expect(limitsOf(await query(client, three))).toMatchObject({ limit: 120, remaining: 116 });
  const misspelt = await query(client, 'mutation { noSuchField }');
  expect(misspelt.status).toBe(400);
  expect(limitsOf(misspelt)).toMatchObject({ limit: 600, remaining: 598 });
});

clause('LIMIT-ORG-001', 'interface §8.1: the organization is a layer above its tokens: the tightest is named', async () => {
  await using own = await startServer({ env: { ...guide, RATE_LIMIT_FILE: await fileOf({ organization: { business: { limit: 8, burst: 2 } } }) } });
  const [first, second] = [as(own, 'read_only'), as(own, 'admin')];
  expect(limitsOf(await read(first)())).toMatchObject({ limit: 8, remaining: 7, scope: 'org' });
  const answers = [...(await times(5, read(first))), ...(await times(7, read(second)))];
  expect(countOf(answers, 200)).toBe(9);
  const refused = answers.find(({ status }) => status === 429)!;
  expect(expectLimited(refused).scope).toBe('org');
  expect(limitsOf(refused)).toMatchObject({ limit: 8, remaining: 0, scope: 'org' });
  // A write of the same organization has no room either, the other organization has.
  expect(expectLimited(await write(second)()).scope).toBe('org');
  expect((await read(as(own, 'other_admin'))()).status).toBe(200);
});

clause('LIMIT-ENDPOINT-001', 'interface §8.1: /api/exports/full is granted once an hour to an organization, without a burst', async () => {
  const admin = as(server, 'admin');
  const repeated = { 'idempotency-key': uniqueWord() };
  // What is refused for other reasons is not the one.
  expectError(await as(server, 'service_account').post('/api/exports/full', { stray: 1 }), 400, 'validation_error');
  const denied = await as(server, 'editor_user').post('/api/exports/full');
  expectError(denied, 403, 'permission_denied');
  expect(limitsOf(denied).scope).toBe('token');
  const granted = await admin.post('/api/exports/full', undefined, repeated);
  expect(granted.status).toBe(201);
  expect(limitsOf(granted)).toMatchObject({ limit: 1, remaining: 0, scope: 'endpoint' });
  const refused = await as(server, 'architect_user').post('/api/exports/full');
  expect(expectLimited(refused).scope).toBe('endpoint');
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3590);
  expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(3600);
  // Through the graph it is the same thing.
  const refusedByGraph = await query(admin, 'mutation { startFullExport { id } }');
  expect(refusedByGraph.body).toMatchObject({ errors: [{ extensions: { code: 'rate_limit_exceeded', scope: 'endpoint' } }] });
  // A repeat under the first one's key is answered from its receipt.
  const again = await admin.post('/api/exports/full', undefined, repeated);
  expect(again.status).toBe(201);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(again.text).toBe(granted.text);
  expectLimited(await admin.post('/api/exports/full'));
  // The other organization has its own hour; asking through the graph spends it as well, unless it is refused.
  expect((await query(as(server, 'other_read_write'), 'mutation { startFullExport { id } }')).body).toMatchObject({ errors: [{ extensions: { code: 'permission_denied' } }] });
  expect((await query(as(server, 'other_admin'), 'mutation { startFullExport { id } }')).body).toMatchObject({ data: { startFullExport: { id: expect.any(String) } } });
  expectLimited(await as(server, 'other_admin').post('/api/exports/full'));
});

clause('LIMIT-ADDRESS-001', 'decisions §7: public paths are limited by the address of the client, reads and writes apart', async () => {
  const nobody = as(server, 'nobody');
  const client = from('198.51.100.1');
  const answers = await times(760, () => nobody.get('/openapi.json', client));
  expect(countOf(answers, 200)).toBe(750);
  expect(limitsOf(answers[0]!)).toMatchObject({ limit: 600 });
  const refused = answers.find(({ status }) => status === 429)!;
  expect(limitsOf(refused)).toMatchObject({ limit: 600, remaining: 0, scope: 'token' });
  expect(expectLimited(refused).detail).toContain('your address');
  for (const path of ['/docs', '/v1/memory', '/nowhere', '/.well-known/oauth-authorization-server', '/oauth/jwks']) expect((await nobody.get(path, client)).status, path).toBe(429);
  const signIn = await nobody.post('/auth/sessions', { email: 'nobody@demo.example', password: 'wrong' }, client);
  expect(signIn.status).toBe(401);
  expect(limitsOf(signIn)).toMatchObject({ limit: 120, remaining: 119 });
  expect((await nobody.get('/openapi.json', from('198.51.100.2'))).status).toBe(200);
  // Whoever has a credential counts for it, wherever the request comes from.
  expect((await as(server, 'admin').get('/v1/memory?limit=1', client)).status).toBe(200);
});

clause('LIMIT-ADDRESS-002', 'decisions §7: of IPv6 the /64 is one client', async () => {
  const nobody = as(server, 'nobody');
  expect(limitsOf(await nobody.get('/openapi.json', from('2001:db8:1:2::1')))).toMatchObject({ remaining: 599 });
  expect(limitsOf(await nobody.get('/openapi.json', from('2001:db8:1:2:ffff::2')))).toMatchObject({ remaining: 598 });
  expect(limitsOf(await nobody.get('/openapi.json', from('2001:db8:1:3::1')))).toMatchObject({ remaining: 599 });
  expect(limitsOf(await nobody.get('/openapi.json', from('::ffff:203.0.113.9')))).toMatchObject({ remaining: 599 });
  expect(limitsOf(await nobody.get('/openapi.json', from('203.0.113.9')))).toMatchObject({ remaining: 598 });
});

clause('LIMIT-ADDRESS-003', 'decisions §7: credentials that are not valid count for the address; after too many none from there is looked up', async () => {
  const client = from('198.51.100.3');
  const guess = () => as(server, 'nobody').get('/v1/memory', { ...client, authorization: `Bearer qk_${'x'.repeat(43)}` });
  const first = await guess();
  expectError(first, 401, 'unauthenticated');
  expect(limitsOf(first)).toMatchObject({ limit: 600, remaining: 599, scope: 'token' });
  const answers = await times(760, guess);
  expect(countOf(answers, 401)).toBe(749);
  expectLimited(answers.find(({ status }) => status === 429)!);
  // A valid one is not looked up either, unless it is known already; without one the address is served.
  expectLimited(await as(server, 'viewer_user').get('/v1/workspaces', client));
  await as(server, 'admin').get('/v1/workspaces', from('198.51.100.4'));
  expect((await as(server, 'admin').get('/v1/workspaces', client)).status).toBe(200);
  expect((await as(server, 'nobody').get('/openapi.json', client)).status).toBe(200);
  expect((await as(server, 'viewer_user').get('/v1/workspaces', from('198.51.100.4'))).status).toBe(200);
});

clause('LIMIT-HEADERS-001', 'interface §9: rate-limit headers are on all responses, refusals and unknown paths included', async () => {
  const admin = as(server, 'admin');
  const nobody = as(server, 'nobody');
  const client = from('198.51.100.5');
  const answers = {
    200: await admin.get('/v1/memory?limit=1'),
    201: await as(server, 'service_account').post('/v1/memory/store', { content: uniqueWord() }),
    400: await admin.get('/v1/memory?stray=1'),
    401: await nobody.get('/v1/memory', client),
    403: await as(server, 'viewer_user').post('/v1/memory/store', { content: 'x' }),
    404: await admin.get('/v1/memory/mem_nothing'),
  };
  expectBody(answers[201], 201, StoreReceipt);
  for (const [status, answer] of Object.entries(answers)) {
    expect(answer.status).toBe(Number(status));
    limitsOf(answer);
  }
  const unknown = await nobody.get('/no/such/path', client);
  expect(unknown.status).toBe(404);
  limitsOf(unknown);
  for (const path of ['/%zz', `/v1/memory/${'x'.repeat(1_200)}`]) limitsOf(await nobody.get(path, client));
  const large = await admin.send('POST', '/v1/api-keys', 'x'.repeat(3_000_000), { 'content-type': 'application/json' });
  expectError(large, 400, 'payload_too_large');
  limitsOf(large);
});

clause('LIMIT-EXEMPT-001', 'interface §8.1: /healthz, /readyz and /version are exempt, and so is /metrics', async () => {
  for (const path of exempt) {
    const answers = await times(path === '/metrics' ? 20 : 800, () => as(server, 'nobody').get(path, from('198.51.100.6')));
    expect(countOf(answers, 200), path).toBe(answers.length);
    expectNoLimits(answers.at(-1)!);
  }
});

clause('LIMIT-OFF-001', 'decisions §7: RATE_LIMIT_PROFILE=off limits nothing and says nothing', async () => {
  const shared = sharedServer();
  for (const path of ['/v1/memory?limit=1', '/openapi.json', '/nowhere']) expectNoLimits(await as(shared, 'admin').get(path));
  expectNoLimits(await query(as(shared, 'admin'), '{ organization { id } }'));
  expectNoLimits(await as(shared, 'nobody').get('/v1/memory', { authorization: 'Bearer wrong' }));
});

clause('LIMIT-OVERVIEW-001', 'interface §8.1: the overview profile counts a token by its plan, reads and writes together, with the burst it names', async () => {
  await using own = await startServer({ env: { ...guide, RATE_LIMIT_PROFILE: 'overview' } });
  const client = as(own, 'read_write');
  expect(limitsOf(await read(client)())).toMatchObject({ limit: 600, remaining: 599, scope: 'token' });
  expect(limitsOf(await write(client)())).toMatchObject({ limit: 600, remaining: 598, scope: 'token' });
  const answers = await times(710, read(client));
  expect(countOf(answers, 200)).toBe(698);
  // No layer of the organization; the hourly rule holds.
  expect((await read(as(own, 'read_only'))()).headers.get('ratelimit-policy')).toBe('"token";q=600;w=60');
  expect((await as(own, 'admin').post('/api/exports/full')).status).toBe(201);
  expect(expectLimited(await as(own, 'admin').post('/api/exports/full')).scope).toBe('endpoint');
});

clause('LIMIT-WINDOW-001', 'interface §8.1: the window slides: what is older than it counts no more, and Retry-After is right to the second', async () => {
  const figure = { limit: 4, burst: 1, window_seconds: 4 };
  await using own = await startServer({ env: { ...guide, RATE_LIMIT_FILE: await fileOf({ token: { business: { read: figure } } }) } });
  const client = as(own, 'read_only');
  const startedAt = performance.now();
  expect(countOf(await times(3, read(client)), 200)).toBe(3);
  await delay(2_000);
  expect(countOf(await times(4, read(client)), 200)).toBe(2);
  const refused = await read(client)();
  const refusedAt = performance.now();
  const retryAfter = Number(refused.headers.get('retry-after'));
  expectLimited(refused);
  // The first three leave four seconds after they came: neither at a full minute nor all five together.
  const leaveInMs = 4_000 - (refusedAt - startedAt);
  expect(retryAfter).toBeGreaterThanOrEqual(Math.floor(leaveInMs / 1000));
  expect(retryAfter).toBeLessThanOrEqual(Math.ceil(leaveInMs / 1000) + 1);
  await delay(retryAfter * 1000);
  const later = await times(5, read(client));
  expect(countOf(later, 200)).toBe(3);
  expect(limitsOf(await read(client)()).resetsInSeconds).toBeLessThanOrEqual(5);
});

clause('LIMIT-FILE-001', 'decisions §7: a fault in RATE_LIMIT_FILE stops the start with a message that names it', async () => {
  const faulty: Record<string, unknown> = { 'token.business.read': { token: { business: { read: 0 } } }, 'token.gold': { token: { gold: { read: 1 } } }, organisation: { organisation: { free: 1 } } };
  for (const [name, figures] of Object.entries(faulty)) {
    const start = startServer({ env: { ...guide, RATE_LIMIT_FILE: await fileOf(figures) } });
    await expect(start).rejects.toThrow(/RATE_LIMIT_FILE/);
    await expect(start).rejects.toThrow(new RegExp(name.split('.').at(-1)!));
  }
  await expect(startServer({ env: { ...guide, RATE_LIMIT_FILE: join(folder, 'missing.json') } })).rejects.toThrow(/RATE_LIMIT_FILE.*missing\.json/);
});

async function fileOf(figures: unknown): Promise<string> {
  const path = join(folder, `${uniqueWord()}.json`);
  await writeFile(path, JSON.stringify(figures));
  return path;
}
