import { expect } from 'vitest';
import { type Answer, as } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { query, store } from '../harness/memory.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { ErrorBody, expectBody, expectError, expectInvalid, expectShape, MemoryObject } from '../harness/shapes.ts';
import { uniqueWord } from '../harness/words.ts';

const server = sharedServer();
const client = as(server, 'read_write');
const json = { 'content-type': 'application/json' };
const postRaw = (body: string | Uint8Array, headers: Record<string, string> = json) => client.send('POST', '/v1/memory/store', body, headers);

function expectRefused(answer: Answer, what: string, statuses: readonly number[] = [400]): void {
  expect(statuses, `${what}: ${answer.text.slice(0, 500)}`).toContain(answer.status);
  const { error } = expectShape(answer.body, ErrorBody);
  expect(error.status, what).toBe(answer.status);
  expect(error.request_id).toBe(answer.headers.get('x-request-id'));
}

/** Either taken exactly as it is or refused in the documented way. */
async function expectTakenOrRefused(body: Record<string, unknown>, what: string): Promise<void> {
  const answer = await client.post('/v1/memory/store', body);
  if (answer.status !== 201) return expectRefused(answer, what);
  const object = expectBody(await client.get(`/v1/memory/${(answer.body as { id: string }).id}`), 200, MemoryObject);
  expect({ content: object.content, metadata: object.metadata }, what).toEqual({ metadata: {}, ...body });
}

clause('ERR-BODY-001', 'decisions §4: the error body is {error: {code, message, request_id, status}}, with details for validation_error', async () => {
  const missing = await client.post('/v1/memory/store', {});
  const { details } = expectError(missing, 400, 'validation_error');
  expect(details?.length).toBeGreaterThan(0);
  expectError(await client.get('/v1/memory/mem_unknown'), 404, 'not_found');
});

clause('ERR-BODY-002', 'decisions §4: every fault of a body is listed in details', async () => {
  const { details } = expectInvalid(await client.post('/v1/memory/store', { metadata: 'x', ttl_seconds: 0, colour: 'red' }));
  const paths = details?.map(({ path }) => path).join(' ');
  for (const path of ['content', 'metadata', 'ttl_seconds']) expect(paths).toContain(path);
});

clause('ERR-JSON-001', 'decisions §4: malformed JSON is 400 validation_error', async () => {
  for (const body of ['{', '{"content":"x"', "{'content':'x'}", '{"content":"x",}', 'content=x', '{"content":"x"} trailing', 'undefined', '\u0000', '{"content":"\n"}', '']) {
    const answer = await postRaw(body);
    expect(answer.status, body).toBe(400);
    expectError(answer, 400, 'validation_error');
  }
});

clause('ERR-JSON-002', 'decisions §4: a body that is no object is 400', async () => {
  for (const body of ['null', '[]', '"text"', '5', 'true', '[{"content":"x"}]']) expectInvalid(await postRaw(body));
  expectInvalid(await client.send('POST', '/v1/memory/store', undefined, json));
});

clause('ERR-JSON-003', 'decisions §4: bytes that are no UTF-8 are refused, never altered in silence', async () => {
  const word = uniqueWord();
  const bytes = Buffer.concat([Buffer.from(`{"content":"${word} `), Buffer.from([0xff, 0xfe, 0xc3, 0x28]), Buffer.from('"}')]);
  const answer = await postRaw(bytes);
  expectRefused(answer, 'invalid UTF-8');
});

clause('ERR-TYPE-001', 'decisions §4: a wrong or missing content type is 400', async () => {
  const body = () => JSON.stringify({ content: `Never ${uniqueWord()}` });
  for (const type of ['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/jsonx', 'json']) {
    expectInvalid(await postRaw(body(), { 'content-type': type }));
  }
  expectInvalid(await postRaw(body(), {}));
});

clause('ERR-TYPE-002', 'interface §4: application/json with a charset parameter is application/json', async () => {
  for (const type of ['application/json; charset=utf-8', 'application/json;charset=UTF-8', 'Application/JSON']) {
    expect((await postRaw(JSON.stringify({ content: `Typed ${uniqueWord()}` }), { 'content-type': type })).status, type).toBe(201);
  }
});

clause('ERR-FIELD-001', 'decisions §4: fields of a wrong type are 400 with the path at fault', async () => {
  for (const content of [5, true, ['x'], { text: 'x' }]) expectInvalid(await client.post('/v1/memory/store', { content }), 'content');
  for (const workspace of [5, null, ['x']]) expectInvalid(await client.post('/v1/memory/store', { content: `Never ${uniqueWord()}`, workspace_id: workspace }), 'workspace_id');
  for (const key of [5, ['x'], {}]) expectInvalid(await client.post('/v1/memory/store', { content: `Never ${uniqueWord()}`, idempotency_key: key }), 'idempotency_key');
});

clause('ERR-QUERY-001', 'decisions §4: an unknown query parameter is 400 on every operation', async () => {
  const { id } = await store(client, { content: `Parameter ${uniqueWord()}` });
  const asked: readonly (readonly [string, string, unknown?])[] = [
    ['POST', '/v1/memory/store', { content: `Never ${uniqueWord()}` }],
    ['POST', '/v1/memory/batch', { memories: [{ content: `Never ${uniqueWord()}` }] }],
    ['GET', '/v1/memory'],
    ['GET', '/v1/memory/stats'],
    ['GET', `/v1/memory/${id}`],
    ['GET', `/v1/memory/${id}/related`],
    ['PATCH', `/v1/memory/${id}`, { metadata: { a: 1 } }],
  ];
  for (const [method, path, body] of asked) {
    const answer = await client.send(method, `${path}?colour=red`, body === undefined ? undefined : JSON.stringify(body), body === undefined ? {} : json);
    expect(answer.status, `${method} ${path}`).toBe(400);
    expectInvalid(answer, 'colour');
  }
});

clause('ERR-QUERY-002', 'decisions §4: a query parameter given twice is answered in the documented way', async () => {
  for (const path of ['/v1/memory?limit=1&limit=2', '/v1/memory/retrieve?q=a&q=b', '/v1/memory/retrieve?q=a&limit=1&limit=1', '/v1/memory/retrieve?q[]=a', '/v1/memory/retrieve?q[a]=b', '/v1/memory/retrieve?q=a&tags=x&tags=y']) {
    const answer = await client.get(path);
    if (answer.status !== 200) expectRefused(answer, path);
  }
});

clause('ERR-QUERY-003', 'decisions §4: broken percent-encoding is refused in the documented way', async () => {
  for (const path of ['/v1/memory/%E0%A4%A', '/v1/memory/%', '/v1/memory/%00', '/v1/memory/%ff%fe']) expectRefused(await client.get(path), path, [400, 404]);
  for (const path of ['/v1/memory/retrieve?q=%E0%A4%A', '/v1/memory/retrieve?q=%', '/v1/memory?cursor=%ff']) {
    const answer = await client.get(path);
    if (answer.status !== 200) expectRefused(answer, path);
  }
});

clause('ERR-NUMBER-001', 'decisions §4: an out-of-range number is 400 with the path at fault', async () => {
  expectInvalid(await client.get(`/v1/memory/retrieve${query({ q: 'x', limit: 101 })}`), 'limit');
  expectInvalid(await client.get(`/v1/memory/retrieve${query({ q: 'x', min_relevance: 2 })}`), 'min_relevance');
  expectInvalid(await client.get(`/v1/memory${query({ limit: -1 })}`), 'limit');
  expectInvalid(await client.post('/v1/memory/store', { content: `Never ${uniqueWord()}`, ttl_seconds: -1 }), 'ttl_seconds');
});

clause('ERR-NUMBER-002', 'decisions §4: numbers beyond every date and integer are no server fault', async () => {
  for (const ttl of ['1e15', '9007199254740993', '1e308', '99999999999999999999999999']) {
    const answer = await postRaw(`{"content":"Far ${uniqueWord()}","ttl_seconds":${ttl}}`);
    if (answer.status !== 201) expectRefused(answer, ttl);
  }
});

clause('ERR-TEXT-001', 'interface §7: NUL characters are stored exactly or refused, never a server fault', async () => {
  const word = uniqueWord();
  await expectTakenOrRefused({ content: `nul \u0000 ${word}` }, 'content');
  await expectTakenOrRefused({ content: `a ${word}`, metadata: { category: 'a\u0000b' } }, 'category');
  await expectTakenOrRefused({ content: `b ${word}`, metadata: { 'a\u0000b': 1 } }, 'metadata key');
  await expectTakenOrRefused({ content: `c ${word}`, metadata: { deep: [{ x: '\u0000' }] } }, 'metadata value');
  await expectTakenOrRefused({ content: `d ${word}`, metadata: { tags: ['\u0000'] } }, 'tag');
});

clause('ERR-TEXT-002', 'interface §7: lone surrogates are stored exactly or refused, never a server fault', async () => {
  const word = uniqueWord();
  await expectTakenOrRefused({ content: `lone \ud800 ${word}` }, 'content');
  await expectTakenOrRefused({ content: `a ${word}`, metadata: { category: '\udfff' } }, 'category');
  await expectTakenOrRefused({ content: `b ${word}`, metadata: { '\ud83d': ['\udc00'] } }, 'metadata');
});

clause('ERR-TEXT-003', 'interface §2.1: metadata keys that mean something to JavaScript are only keys', async () => {
  const word = uniqueWord();
  await expectTakenOrRefused({ content: `constructor ${word}`, metadata: { constructor: { prototype: { x: 1 } }, toString: 'x', hasOwnProperty: 5 } }, 'constructor');
  const answer = await postRaw(`{"content":"proto ${word}","metadata":{"__proto__":{"polluted":true}}}`);
  if (answer.status !== 201) expectRefused(answer, '__proto__');
  expect((await client.get('/v1/memory/stats')).text).not.toContain('polluted');
});

clause('ERR-DEPTH-001', 'interface §7: deeply nested input is taken or refused, never a server fault', async () => {
  for (const depth of [100, 5_000, 100_000]) {
    const answer = await postRaw(`{"content":"Deep ${uniqueWord()}","metadata":{"deep":${'['.repeat(depth)}${']'.repeat(depth)}}}`);
    if (answer.status !== 201) expectRefused(answer, `${depth} levels`);
  }
});

clause('ERR-LONG-001', 'interface §7: very long ids, parameters and keys are refused, never a server fault', async () => {
  expectRefused(await client.get(`/v1/memory/mem_${'x'.repeat(5_000)}`), 'id', [400, 404]);
  expectRefused(await client.get(`/v1/memory?cursor=${'x'.repeat(7_000)}`), 'cursor');
  const answer = await client.get(`/v1/memory/retrieve${query({ q: 'word '.repeat(1_200) })}`);
  if (answer.status !== 200) expectRefused(answer, 'q');
});

clause('ERR-METHOD-001', 'interface §7: a method that a path does not have is refused in the documented way', async () => {
  for (const [method, path] of [['PUT', '/v1/memory/store'], ['DELETE', '/v1/memory'], ['PATCH', '/v1/memory/batch'], ['PUT', '/v1/memory/mem_unknown'], ['POST', '/v1/memory/retrieve']] as const) {
    expectRefused(await client.send(method, path, '{}', json), `${method} ${path}`, [400, 404]);
  }
});

clause('ERR-MASK-001', 'decisions §4: no error tells anything of its inside', async () => {
  const refused = [await postRaw('{'), await client.get("/v1/memory/mem_'"), await client.get(`/v1/memory${query({ cursor: 'x' })}`)];
  expect(refused.map(({ status }) => status)).toEqual([400, 404, 400]);
  const doubtful = [await postRaw('{"content":"\\u0000"}'), await client.get('/v1/memory/retrieve?q=%00')];
  for (const { text } of [...refused, ...doubtful]) expect(text).not.toMatch(/node_modules|\.ts:\d|\.js:\d|\bat \w+ \(|postgres|pglite|mikro|select |insert |syntax error at/i);
});
