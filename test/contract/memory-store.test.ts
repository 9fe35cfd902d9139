import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { as } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually, whenProcessed } from '../harness/eventually.ts';
import { idsOf, retrieve, store } from '../harness/memory.ts';
import { startServer } from '../harness/server.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { expectBody, expectError, expectInvalid, MemoryObject, StoreReceipt } from '../harness/shapes.ts';
import { uniqueWord } from '../harness/words.ts';

const server = sharedServer();
const client = as(server, 'read_write');
const contentBytesMax = 1_048_576;

clause('MEM-STORE-001', 'interface §4.1: 201 with id, status stored, vault_id, workspace_id, created_at, content_hash, byte_size, metadata, processing', async () => {
  const before = Date.now();
  const stored = await store(client, { content: `A plain note ${uniqueWord()}`, metadata: { category: 'note' } });
  expect(stored).toMatchObject({ vault_id: server.credentials.vault_id, workspace_id: server.credentials.workspace_id, metadata: { category: 'note' } });
  expect(Math.abs(new Date(stored.created_at).getTime() - before)).toBeLessThan(10_000);
});

clause('MEM-STORE-002', 'interface §3.1: both processing statuses start as pending', async () => {
  const { processing } = await store(client, { content: `Fresh ${uniqueWord()}` });
  expect(processing).toEqual({ embedding_status: 'pending', entity_extraction_status: 'pending' });
});

clause('MEM-STORE-003', 'interface §2.1: content_hash is sha256 of the content and byte_size its bytes', async () => {
  for (const content of [`plain ${uniqueWord()}`, `Größe 東京 🌍 ${uniqueWord()}`, `e\u0301 stays decomposed ${uniqueWord()}`]) {
    const stored = await store(client, { content });
    expect(stored.content_hash).toBe(`sha256:${createHash('sha256').update(content, 'utf8').digest('hex')}`);
    expect(stored.byte_size).toBe(Buffer.byteLength(content, 'utf8'));
  }
});

clause('MEM-STORE-004', 'interface §2.1: content comes back exactly as it was given', async () => {
  const word = uniqueWord();
  const contents = [`  leading and trailing ${word}\t \n`, `lines\r\nof\n${word}\r`, `quotes "'\\ $1 %s \${x} ${word}`, `<b>html</b> &amp; ${word}`, `𝔘nicode 👩‍👩‍👧‍👦 \u200b\ufeff e\u0301 ${word}`, `{"json": ["${word}"]}`];
  for (const content of contents) {
    const { id } = await store(client, { content });
    expect(expectBody(await client.get(`/v1/memory/${id}`), 200, MemoryObject).content).toBe(content);
  }
});

clause('MEM-STORE-005', 'interface §2.1: metadata takes arbitrary key-value pairs and gives them back unchanged', async () => {
  const metadata = {
    category: 'policy',
    department: 'people',
    tags: ['a', 'b c', 'ü'],
    source: 'import',
    camelCase: 1,
    snake_case: -2.5,
    'with space.and-dots': true,
    nothing: null,
    nested: { deepKey: [1, { twoWords: 'x' }], empty: {} },
    '': 'empty key',
  };
  const stored = await store(client, { content: `With metadata ${uniqueWord()}`, metadata });
  expect(stored.metadata).toEqual(metadata);
  expect(expectBody(await client.get(`/v1/memory/${stored.id}`), 200, MemoryObject).metadata).toEqual(metadata);
});

clause('MEM-STORE-006', 'interface §4.1: metadata is optional', async () => {
  expect((await store(client, { content: `Bare ${uniqueWord()}` })).metadata).toEqual({});
});

clause('MEM-STORE-007', 'interface §4.1: missing content is 400 validation_error naming it', async () => {
  for (const body of [{}, { metadata: { category: 'x' } }, { content: null }]) {
    const answer = await client.post('/v1/memory/store', body);
    expectInvalid(answer, 'content');
    expectError(answer, 400, 'validation_error');
  }
});

clause('MEM-STORE-008', 'decisions §8: empty or blank content is 400', async () => {
  for (const content of ['', ' ', '\n\t \r\n', '\u00a0\u2003']) {
    expectInvalid(await client.post('/v1/memory/store', { content }), 'content');
  }
});

clause('MEM-STORE-009', 'decisions §8: ttl_seconds below 1 or no integer is 400', async () => {
  for (const ttl of [0, -1, 1.5, '60', true, 1e400]) {
    expectInvalid(await client.send('POST', '/v1/memory/store', `{"content":"Never ${uniqueWord()}","ttl_seconds":${ttl === Infinity ? '1e400' : JSON.stringify(ttl)}}`, { 'content-type': 'application/json' }), 'ttl_seconds');
  }
});

clause('MEM-STORE-010', 'interface §4.1: known metadata keys have their types: wrong ones are 400', async () => {
  for (const [key, value] of [['category', 5], ['department', ['x']], ['source', {}], ['tags', 'one,two'], ['tags', [1]], ['tags', { a: 'b' }]] as const) {
    expectInvalid(await client.post('/v1/memory/store', { content: `Never ${uniqueWord()}`, metadata: { [key]: value } }), key);
  }
  for (const metadata of ['text', 5, ['a'], true]) {
    expectInvalid(await client.post('/v1/memory/store', { content: `Never ${uniqueWord()}`, metadata }), 'metadata');
  }
});

clause('MEM-STORE-011', 'decisions §4: an unknown body field is 400 naming it, never ignored', async () => {
  for (const field of ['contents', 'ttl', 'id', 'status', 'vault_id', 'created_at']) {
    expectInvalid(await client.post('/v1/memory/store', { content: `Never ${uniqueWord()}`, [field]: 'x' }), field);
  }
});

clause('MEM-STORE-012', 'decisions §8: one byte over 1 MB is 400 payload_too_large, counted in bytes of UTF-8', async () => {
  for (const content of ['x'.repeat(contentBytesMax + 1), '€'.repeat(Math.ceil((contentBytesMax + 1) / 3))]) {
    expectError(await client.post('/v1/memory/store', { content }), 400, 'payload_too_large');
  }
});

clause('MEM-STORE-013', 'decisions §4: far larger bodies are 400 payload_too_large too', async () => {
  expectError(await client.post('/v1/memory/store', { content: 'x'.repeat(12 * contentBytesMax) }), 400, 'payload_too_large');
});

clause('MEM-STORE-014', 'decisions §8: escapes of JSON do not count: 1 MB of content may take 6 MB of body', async () => {
  const escaped = '\\u0041'.repeat(contentBytesMax);
  const answer = await client.send('POST', '/v1/memory/store', `{"content":"${escaped}x"}`, { 'content-type': 'application/json' });
  expectError(answer, 400, 'payload_too_large');
  const word = uniqueWord();
  const small = await client.send('POST', '/v1/memory/store', `{"content":"${[...word].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"}`, { 'content-type': 'application/json' });
  expect(expectBody(small, 201, StoreReceipt).byte_size).toBe(word.length);
});

clause('MEM-STORE-DUP-001', 'decisions §6: content equal to a live object\'s is 409 duplicate_content naming existing_id', async () => {
  const content = `Only once ${uniqueWord()}`;
  const { id } = await store(client, { content });
  const { existing_id } = expectError(await client.post('/v1/memory/store', { content, metadata: { category: 'other' } }), 409, 'duplicate_content');
  expect(existing_id).toBe(id);
  expectError(await client.post('/v1/memory/store', { content }, { 'idempotency-key': uniqueWord() }), 409, 'duplicate_content');
});

clause('MEM-STORE-DUP-002', 'decisions §6: content that differs in a space or a capital is no duplicate', async () => {
  const word = uniqueWord();
  for (const content of [`Same ${word}`, `same ${word}`, `Same ${word} `, `Same  ${word}`]) await store(client, { content });
});

clause('MEM-STORE-DUP-003', 'decisions §6: after deletion the same content may be stored again', async () => {
  const content = `Again ${uniqueWord()}`;
  const { id } = await store(client, { content });
  expect((await client.delete(`/v1/memory/${id}`)).status).toBe(200);
  expect((await store(client, { content })).id).not.toBe(id);
});

clause('MEM-STORE-DUP-004', 'decisions §6: of many concurrent stores of one content exactly one succeeds', async () => {
  const content = `Race ${uniqueWord()}`;
  const answers = await Promise.all(Array.from({ length: 20 }, () => client.post('/v1/memory/store', { content })));
  const winners = answers.filter(({ status }) => status === 201);
  expect(winners).toHaveLength(1);
  const { id } = expectBody(winners[0]!, 201, StoreReceipt);
  for (const answer of answers.filter(({ status }) => status !== 201)) {
    expect(expectError(answer, 409, 'duplicate_content').existing_id).toBe(id);
  }
});

clause('MEM-STORE-READ-001', 'interface §8.2 rule 5: GET by id is strongly consistent after store', async () => {
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      const { id } = await store(client, { content: `At once ${uniqueWord()}` });
      expect((await client.get(`/v1/memory/${id}`)).status).toBe(200);
    }),
  );
});

clause('MEM-STORE-FIND-001', 'decisions §8: a stored object is found by keyword within 2 s', async () => {
  for (let round = 0; round < 5; round += 1) {
    const word = uniqueWord();
    const { id } = await store(client, { content: `Soon to be found: ${word}.` });
    await eventually(async () => expect(idsOf(await retrieve(client, { keyword: word }))).toEqual([id]), 2_000);
  }
});

clause('MEM-STORE-FIND-002', 'decisions §8: a stored object is found by meaning as soon as embedding_status is completed', async () => {
  const category = uniqueWord();
  const { id } = await store(client, { content: 'Penguins huddle together to survive the Antarctic winter storms.', metadata: { category } });
  await whenProcessed(client, id);
  expect(idsOf(await retrieve(client, { q: 'how do birds at the south pole keep warm', category }))).toEqual([id]);
});

clause('MEM-STORE-LARGE-001', 'decisions §8: exactly 1,048,576 bytes are stored and come back, and a fact at their end is found by keyword and by meaning', async () => {
  await using own = await startServer();
  const owner = as(own, 'read_write');
  const [category, word] = [uniqueWord(), uniqueWord()];
  const fact = ` The beekeeper ${word} harvested lavender honey from forty hives on the southern hillside.`;
  // Columns of a wide table: many bytes, and few words that have to be embedded.
  const filler = Array.from({ length: 2_700 }, (_, index) => `Invoice ${index} covers server rental, bandwidth and power for the month;`.padEnd(300) + `payment is due in ${index % 90} days.`.padEnd(100)).join('\n');
  const content = filler.slice(0, contentBytesMax - Buffer.byteLength(fact)) + fact;
  expect(Buffer.byteLength(content)).toBe(contentBytesMax);
  const { id, byte_size } = await store(owner, { content, metadata: { category } });
  expect(byte_size).toBe(contentBytesMax);
  expect(expectBody(await owner.get(`/v1/memory/${id}`), 200, MemoryObject).content).toBe(content);
  await eventually(async () => expect(idsOf(await retrieve(owner, { keyword: word }))).toEqual([id]));
  await store(owner, { content: 'The quarterly report lists revenue by region.', metadata: { category } });
  await whenProcessed(owner, id);
  const found = await retrieve(owner, { q: 'someone who keeps bees and makes honey from lavender', category, limit: 1 });
  expect(idsOf(found)).toEqual([id]);
  expect(found.results[0]?.highlights.join(' ').replaceAll(/<\/?em>/g, '')).toContain('lavender');
});
