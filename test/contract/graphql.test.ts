import { serverAudits } from 'graphql-http';
import { expect } from 'vitest';
import { z } from 'zod';
import { as } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { startServer } from '../harness/server.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { expectBody, expectShape } from '../harness/shapes.ts';

const server = sharedServer();
const client = as(server, 'read_write');

const Failure = z.looseObject({
  errors: z.array(z.looseObject({ message: z.string(), extensions: z.looseObject({ code: z.string(), status: z.int(), request_id: z.string().min(1) }) })).min(1),
});

/** The audits ask with `__type`, so they run where introspection is allowed. */
async function failedAudits(level: 'MUST' | 'SHOULD'): Promise<string[]> {
  await using server = await startServer({ env: { INTROSPECTION: 'true' } });
  const key = server.credentials.api_keys.read_write;
  const fetchFn = (url: string, init: RequestInit = {}) => fetch(url, { ...init, headers: { ...Object.fromEntries(new Headers(init.headers)), authorization: `Bearer ${key}` } });
  const audits = serverAudits({ url: `${server.baseUrl}/graphql`, fetchFn }).filter(({ name }) => name.startsWith(level));
  expect(audits.length).toBeGreaterThan(0);
  const results = await Promise.all(audits.map((audit) => audit.fn()));
  return results.flatMap((result) => (result.status === 'ok' ? [] : [result.id]));
}

/** Apollo Server answers 400 to `application/json` too when a document cannot be parsed, validated or given its variables. */
const knownOptional = ['572B', 'FDE2', '7B9B'];

clause('GQL-HTTP-001', 'decisions §1: /graphql passes every MUST of the GraphQL-over-HTTP audits', async () => {
  expect(await failedAudits('MUST')).toEqual([]);
});

clause('GQL-HTTP-002', 'decisions §1: /graphql passes every SHOULD of the GraphQL-over-HTTP audits but the three that Apollo Server declines', async () => {
  expect(await failedAudits('SHOULD')).toEqual(knownOptional);
});

clause('GQL-HTTP-003', 'decisions §1: GET /graphql answers queries', async () => {
  const answer = await client.get(`/graphql?${new URLSearchParams({ query: '{ __typename }' })}`, { accept: 'application/graphql-response+json' });
  expect(expectBody(answer, 200, z.looseObject({ data: z.unknown() })).data).toEqual({ __typename: 'Query' });
});

clause('GQL-HTTP-004', 'decisions §1: GET /graphql refuses mutations with 405', async () => {
  const answer = await client.get(`/graphql?${new URLSearchParams({ query: 'mutation { __typename }' })}`, { accept: 'application/graphql-response+json' });
  expect(answer.status).toBe(405);
});

clause('GQL-HTTP-005', 'decisions §1: POST /graphql answers a query', async () => {
  expect(expectBody(await client.post('/graphql', { query: '{ __typename }' }), 200, z.looseObject({ data: z.unknown() })).data).toEqual({ __typename: 'Query' });
});

clause('GQL-HTTP-006', 'interface §4: responses of /graphql carry X-Request-Id and keep the caller\'s', async () => {
  expect((await client.post('/graphql', { query: '{ __typename }' }, { 'x-request-id': 'graphql.1' })).headers.get('x-request-id')).toBe('graphql.1');
  expect((await client.post('/graphql', { query: '{' })).headers.get('x-request-id')).toMatch(/./);
});

clause('GQL-ERROR-001', 'decisions §4: syntax and validation errors are validation_error with code, status and request_id in extensions', async () => {
  for (const query of ['{', '{ noSuchField }', 'query ($x: NoSuchType) { __typename }', '{ ...missing }', 'subscription { noSuchField }']) {
    const answer = await client.post('/graphql', { query }, { accept: 'application/graphql-response+json' });
    expect(answer.status, query).toBe(400);
    for (const { extensions } of expectShape(answer.body, Failure).errors) {
      expect(extensions, query).toMatchObject({ code: 'validation_error', status: 400, request_id: answer.headers.get('x-request-id') });
    }
  }
});

clause('GQL-ERROR-002', 'interface §5 rule 2: an invalid credential gives 401 unauthenticated on /graphql', async () => {
  const answer = await as(server, 'nobody').post('/graphql', { query: '{ __typename }' }, { authorization: `Bearer qk_${'A'.repeat(43)}` });
  expect(answer.status).toBe(401);
  expect(answer.text).toContain('unauthenticated');
});

clause('GQL-LIMIT-001', 'decisions §13: introspection is off in production', async () => {
  for (const query of ['{ __schema { types { name } } }', '{ __type(name: "Query") { name fields { name } } }']) {
    const answer = await client.post('/graphql', { query });
    expect(answer.body).toMatchObject({ errors: [{ extensions: { code: 'validation_error' } }] });
    expect(answer.text).not.toContain('"fields"');
  }
});

clause('GQL-LIMIT-002', 'decisions §13: CSRF prevention is on: what a form of another site can post is refused', async () => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
    const answer = await client.send('POST', '/graphql', JSON.stringify({ query: '{ __typename }' }), { 'content-type': type });
    expect([400, 403, 415], type).toContain(answer.status);
  }
});

clause('GQL-LIMIT-003', 'decisions §13: documents without measure are refused, never a server fault', async () => {
  const aliases = Array.from({ length: 20_000 }, (_, index) => `a${index}: __typename`).join(' ');
  const fragments = Array.from({ length: 40 }, (_, index) => `fragment f${index} on Query { __typename ...f${index + 1} ...f${index + 1} }`).join(' ');
  const documents = [`{ ${aliases} }`, `{ ...f0 } ${fragments} fragment f40 on Query { __typename }`, `{ a(x: ${'['.repeat(20_000)}${']'.repeat(20_000)}) }`, `{ __typename ${'@skip(if: false) '.repeat(5_000)} }`];
  for (const query of documents) {
    const { status, body } = await client.post('/graphql', { query });
    expect(status, query.slice(0, 40)).toBeLessThan(500);
    expect(body, query.slice(0, 40)).toMatchObject({ errors: [{ message: expect.any(String) }] });
  }
});

clause('GQL-LIMIT-004', 'decisions §13: batches of documents are limited, never a server fault', async () => {
  const answer = await client.post('/graphql', Array.from({ length: 1_000 }, () => ({ query: '{ __typename }' })));
  expect([400, 403]).toContain(answer.status);
});

clause('GQL-GRAPH-001', 'decisions §13: in development the graph can be introspected, has the shared entities, camelCase fields and Relay connections', async () => {
  await using own = await startServer({ env: { NODE_ENV: 'development' } });
  const answer = await as(own, 'read_write').post('/graphql', { query: '{ __schema { types { name kind fields { name } } } }' });
  const Introspected = z.looseObject({ data: z.object({ __schema: z.object({ types: z.array(z.object({ name: z.string(), kind: z.string(), fields: z.array(z.object({ name: z.string() })).nullable() })) }) }) });
  const { types } = expectBody(answer, 200, Introspected).data.__schema;
  const objects = types.filter(({ name, kind }) => !name.startsWith('__') && kind === 'OBJECT');
  expect(objects.map(({ name }) => name)).toEqual(expect.arrayContaining(['Organization', 'Workspace', 'Vault', 'User']));
  expect(types.map(({ name }) => name)).not.toEqual(expect.arrayContaining(['_Entity']));
  expect(objects.flatMap(({ name, fields }) => (fields ?? []).map((field) => `${name}.${field.name}`)).filter((path) => !/^[A-Z]\w*\.[a-z][A-Za-z0-9]*$/.test(path))).toEqual([]);
  for (const { name, fields } of objects.filter((type) => type.name.endsWith('Connection'))) {
    expect(fields?.map((field) => field.name), name).toEqual(expect.arrayContaining(['edges', 'pageInfo']));
  }
});

clause('GQL-GRAPH-002', 'decisions §1: in development a page for people stands at /graphql, without a download from elsewhere', async () => {
  await using own = await startServer({ env: { NODE_ENV: 'development' } });
  const page = await as(own, 'nobody').get('/graphql', { accept: 'text/html' });
  expect(page.status).toBe(200);
  expect(page.headers.get('content-type')).toMatch(/^text\/html\b/);
  expect(page.text).not.toMatch(/<(?:script|link|iframe)\b[^>]*(?:src|href)=["'](?:https?:)?\/\//i);
});
