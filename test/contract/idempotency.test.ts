import { expect } from 'vitest';
import { type Answer, as } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually } from '../harness/eventually.ts';
import { idsOf, retrieve, store } from '../harness/memory.ts';
import { startServer } from '../harness/server.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { BatchReceipt, DeleteReceipt, expectBody, expectError, expectInvalid, ErrorBody, StoreReceipt } from '../harness/shapes.ts';
import { uniqueWord } from '../harness/words.ts';

const server = sharedServer();
const client = as(server, 'read_write');
const stranger = as(server, 'other_read_write');
const storePath = '/v1/memory/store';

const keyed = (key = uniqueWord()): { 'idempotency-key': string } => ({ 'idempotency-key': key });
const memory = () => ({ content: `Idempotent ${uniqueWord()}`, metadata: { nested: { b: 1, a: [2] } } });

function expectReplay(again: Answer, first: Answer): void {
  expect(again.status).toBe(first.status);
  expect(again.text, 'byte for byte').toBe(first.text);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(first.headers.get('idempotent-replayed')).toBeNull();
}

clause('IDEM-STORE-001', 'decisions §6: a repeated store answers the first response byte for byte with Idempotent-Replayed: true', async () => {
  const [body, headers] = [memory(), keyed()];
  const first = await client.post(storePath, body, headers);
  expectBody(first, 201, StoreReceipt);
  for (let repeat = 0; repeat < 3; repeat += 1) expectReplay(await client.post(storePath, body, headers), first);
});

clause('IDEM-STORE-002', 'interface §8.3: the body field idempotency_key does the same', async () => {
  const body = { ...memory(), idempotency_key: uniqueWord() };
  const first = await client.post(storePath, body);
  expectBody(first, 201, StoreReceipt);
  expectReplay(await client.post(storePath, body), first);
  expectError(await client.post(storePath, { ...body, content: `Other ${uniqueWord()}` }), 409, 'idempotency_key_reused');
});

clause('IDEM-STORE-003', 'decisions §6: the same key with another body is 409 idempotency_key_reused', async () => {
  const [body, headers] = [memory(), keyed()];
  const { id } = expectBody(await client.post(storePath, body, headers), 201, StoreReceipt);
  const word = uniqueWord();
  expectError(await client.post(storePath, { content: `Other ${word}` }, headers), 409, 'idempotency_key_reused');
  expectError(await client.post(storePath, { ...body, metadata: {} }, headers), 409, 'idempotency_key_reused');
  await store(client, { content: `Other ${word}` });
  expect((await client.get(`/v1/memory/${id}`)).status).toBe(200);
});

clause('IDEM-STORE-004', 'decisions §6: the same key with another path or method is 409 idempotency_key_reused', async () => {
  const headers = keyed();
  const { id } = expectBody(await client.post(storePath, memory(), headers), 201, StoreReceipt);
  expectError(await client.post('/v1/memory/batch', { memories: [memory()] }, headers), 409, 'idempotency_key_reused');
  expectError(await client.delete(`/v1/memory/${id}`, headers), 409, 'idempotency_key_reused');
  expect((await client.get(`/v1/memory/${id}`)).status).toBe(200);
});

clause('IDEM-STORE-005', 'decisions §6: 50 concurrent repeats have one effect', async () => {
  const [word, headers] = [uniqueWord(), keyed()];
  const body = { content: `Fifty ${word}` };
  const answers = await Promise.all(Array.from({ length: 50 }, () => client.post(storePath, body, headers)));
  const done = answers.filter(({ status }) => status === 201);
  expect(done.length).toBeGreaterThan(0);
  expect(new Set(done.map(({ text }) => text)).size).toBe(1);
  expect(done.filter((answer) => answer.headers.get('idempotent-replayed') === null)).toHaveLength(1);
  for (const answer of answers.filter(({ status }) => status !== 201)) {
    expectError(answer, 409, 'idempotency_in_progress');
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
  }
  expect((await client.post(storePath, body, headers)).text).toBe(done[0]?.text);
  await eventually(async () => expect(idsOf(await retrieve(client, { keyword: word }))).toEqual([expectBody(done[0]!, 201, StoreReceipt).id]));
});

clause('IDEM-STORE-006', 'decisions §6: another credential of the same organization gets the same replay', async () => {
  const [body, headers] = [memory(), keyed()];
  const first = await client.post(storePath, body, headers);
  expectReplay(await as(server, 'admin').post(storePath, body, headers), first);
});

clause('IDEM-STORE-007', 'decisions §6: keys of another organization are its own', async () => {
  const [body, headers] = [memory(), keyed()];
  const ours = expectBody(await client.post(storePath, body, headers), 201, StoreReceipt);
  const theirs = await stranger.post(storePath, { content: `Theirs ${uniqueWord()}` }, headers);
  expect(theirs.headers.get('idempotent-replayed')).toBeNull();
  expect(expectBody(theirs, 201, StoreReceipt).id).not.toBe(ours.id);
});

clause('IDEM-STORE-008', 'decisions §6: a replay carries its own X-Request-Id', async () => {
  const [body, headers] = [memory(), keyed()];
  await client.post(storePath, body, { ...headers, 'x-request-id': 'first-request' });
  expect((await client.post(storePath, body, { ...headers, 'x-request-id': 'second-request' })).headers.get('x-request-id')).toBe('second-request');
});

clause('IDEM-STORE-009', 'decisions §6: without a key nothing is replayed', async () => {
  const body = memory();
  await store(client, body);
  expectError(await client.post(storePath, body), 409, 'duplicate_content');
});

clause('IDEM-STORE-010', 'decisions §6: the replay stays the first response though the object has changed or gone since', async () => {
  const [body, headers] = [memory(), keyed()];
  const first = await client.post(storePath, body, headers);
  const { id } = expectBody(first, 201, StoreReceipt);
  expect((await client.patch(`/v1/memory/${id}`, { metadata: { later: true } })).status).toBe(200);
  expectReplay(await client.post(storePath, body, headers), first);
  expect((await client.delete(`/v1/memory/${id}`)).status).toBe(200);
  expectReplay(await client.post(storePath, body, headers), first);
});

clause('IDEM-KEY-001', 'decisions §6: a key has 1 to 255 printable characters, else 400', async () => {
  for (const key of ['', 'x'.repeat(256), 'a\tb']) {
    const answer = await client.post(storePath, memory(), keyed(key));
    expect(answer.status, JSON.stringify(key)).toBe(400);
    expectInvalid(answer);
  }
  for (const key of ['!', `${uniqueWord()} with spaces "and" {braces}`, uniqueWord().padEnd(255, 'x')]) {
    const [body, headers] = [memory(), keyed(key)];
    const first = await client.post(storePath, body, headers);
    expect([201, 409], key).toContain(first.status);
    if (first.status === 201) expectReplay(await client.post(storePath, body, headers), first);
  }
});

clause('IDEM-BATCH-001', 'decisions §6: a repeated batch stores nothing twice', async () => {
  const [body, headers] = [{ memories: [memory(), { content: '' }, memory()] }, keyed()];
  const first = await client.post('/v1/memory/batch', body, headers);
  expect(expectBody(first, 201, BatchReceipt)).toMatchObject({ stored: 2, failed: 1 });
  expectReplay(await client.post('/v1/memory/batch', body, headers), first);
});

clause('IDEM-DELETE-001', 'decisions §6: a repeated DELETE with its key answers the first receipt, not 404', async () => {
  const headers = keyed();
  const { id } = await store(client, memory());
  const first = await client.delete(`/v1/memory/${id}`, headers);
  expectBody(first, 200, DeleteReceipt);
  expectReplay(await client.delete(`/v1/memory/${id}`, headers), first);
  expectError(await client.delete(`/v1/memory/${id}`, keyed()), 404, 'not_found');
});

clause('IDEM-KEPT-001', 'decisions §6: 404 of the operation is kept: replayed with its original request_id, the header carries the new one', async () => {
  const headers = keyed();
  const first = await client.delete('/v1/memory/mem_unknown', { ...headers, 'x-request-id': 'original' });
  expectError(first, 404, 'not_found');
  const again = await client.delete('/v1/memory/mem_unknown', { ...headers, 'x-request-id': 'repeat' });
  expectReplay(again, first);
  expect(expectBody(again, 404, ErrorBody).error.request_id).toBe('original');
  expect(again.headers.get('x-request-id')).toBe('repeat');
});

clause('IDEM-KEPT-002', 'decisions §6: 409 of the operation is kept, though its reason has gone', async () => {
  const [body, headers] = [memory(), keyed()];
  const { id } = await store(client, body);
  const first = await client.post(storePath, body, headers);
  expectError(first, 409, 'duplicate_content');
  expect((await client.delete(`/v1/memory/${id}`)).status).toBe(200);
  expectReplay(await client.post(storePath, body, headers), first);
  await store(client, body);
});

clause('IDEM-FREE-001', 'decisions §6: after 400 the key is free', async () => {
  const headers = keyed();
  expectInvalid(await client.post(storePath, { content: '' }, headers), 'content');
  expectBody(await client.post(storePath, memory(), headers), 201, StoreReceipt);
});

clause('IDEM-FREE-002', 'decisions §6: after 401 the key is free', async () => {
  const [body, headers] = [memory(), keyed()];
  expectError(await as(server, 'nobody').post(storePath, body, headers), 401, 'unauthenticated');
  expectBody(await client.post(storePath, body, headers), 201, StoreReceipt);
});

clause('IDEM-FREE-003', 'decisions §6: after 403 permission_denied the key is free', async () => {
  const [body, headers] = [memory(), keyed()];
  expectError(await as(server, 'read_only').post(storePath, body, headers), 403, 'permission_denied');
  expectBody(await client.post(storePath, body, headers), 201, StoreReceipt);
});

clause('IDEM-FREE-004', 'decisions §6: a replay is no way around permission: a read-only key gets 403', async () => {
  const [body, headers] = [memory(), keyed()];
  expectBody(await client.post(storePath, body, headers), 201, StoreReceipt);
  expectError(await as(server, 'read_only').post(storePath, body, headers), 403, 'permission_denied');
});

clause('IDEM-CRASH-001', 'decisions §6: the replay survives a crash right after the answer', async () => {
  await using own = await startServer();
  const [body, headers] = [memory(), keyed()];
  const first = await as(own, 'read_write').post(storePath, body, headers);
  await own.kill();
  expectBody(first, 201, StoreReceipt);
  await own.restart();
  expectReplay(await as(own, 'read_write').post(storePath, body, headers), first);
});

clause('IDEM-CRASH-002', 'decisions §6: a crash between write and answer does nothing twice and leaves no key in progress for ever', async () => {
  await using own = await startServer();
  const word = uniqueWord();
  const writes = Array.from({ length: 60 }, (_, index) => ({ body: { content: `Crash ${word} ${index}` }, headers: keyed() }));
  const cut = writes.map(({ body, headers }) => as(own, 'read_write').post(storePath, body, headers).catch(() => null));
  await Promise.race(cut);
  await own.kill();
  const early = await Promise.all(cut);
  await own.restart();
  const owner = as(own, 'read_write');
  const ids = new Set<string>();
  for (const [index, { body, headers }] of writes.entries()) {
    const late = await eventually(async () => {
      const answer = await owner.post(storePath, body, headers);
      expect(answer.status, answer.text).toBe(201);
      return answer;
    });
    if (early[index]?.status === 201) expect(late.text).toBe(early[index].text);
    ids.add(expectBody(late, 201, StoreReceipt).id);
  }
  expect(ids.size).toBe(60);
  // On a server a job of the killed process is missed after its heartbeat, some 15 s.
  await eventually(async () => expect(new Set(idsOf(await retrieve(owner, { keyword: word, limit: 100 })))).toEqual(ids));
});

clause('IDEM-EXPIRY-001', 'interface §8.3: after the key\'s validity the request is a new one', async () => {
  await using own = await startServer({ env: { IDEMPOTENCY_TTL_SECONDS: '1' } });
  const owner = as(own, 'read_write');
  const [body, headers] = [memory(), keyed()];
  expectBody(await owner.post(storePath, body, headers), 201, StoreReceipt);
  await eventually(async () => expectError(await owner.post(storePath, body, headers), 409, 'duplicate_content'));
});
