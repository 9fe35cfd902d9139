import { expect } from 'vitest';
import { as } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually, whenProcessed } from '../harness/eventually.ts';
import { idsOf, retrieve, store } from '../harness/memory.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { expectBody, expectError, expectInvalid, MemoryObject } from '../harness/shapes.ts';
import { uniqueWord } from '../harness/words.ts';

const client = as(sharedServer(), 'read_write');
const read = async (id: string) => expectBody(await client.get(`/v1/memory/${id}`), 200, MemoryObject);

async function patch(id: string, body: Record<string, unknown>): Promise<MemoryObject> {
  const answer = await client.patch(`/v1/memory/${id}`, body);
  expect(answer.status, answer.text).toBe(200);
  return read(id);
}

clause('MEM-PATCH-001', 'decisions §8: content is replaced and updated_at is set', async () => {
  const before = await store(client, { content: `Before ${uniqueWord()}`, metadata: { category: 'kept' } });
  const content = `After ${uniqueWord()}`;
  const after = await patch(before.id, { content });
  expect(after).toMatchObject({ id: before.id, content, created_at: before.created_at, metadata: { category: 'kept' }, status: 'stored' });
  expect(new Date(after.updated_at ?? '').getTime()).toBeGreaterThanOrEqual(new Date(before.created_at).getTime());
});

clause('MEM-PATCH-002', 'decisions §8: metadata is a JSON Merge Patch: nested objects merge, null removes, arrays replace', async () => {
  const metadata = { category: 'a', tags: ['x', 'y'], source: 's', nested: { keep: 1, drop: 2, deep: { a: 1 } }, list: [1, 2] };
  const { id } = await store(client, { content: `Merge ${uniqueWord()}`, metadata });
  const merged = { category: 'b', tags: ['z'], nested: { drop: null, added: null, deep: { b: { c: null, d: 2 } } }, list: { now: 'object' }, source: null, fresh: 'value' };
  expect((await patch(id, { metadata: merged })).metadata).toEqual({ category: 'b', tags: ['z'], nested: { keep: 1, deep: { a: 1, b: { d: 2 } } }, list: { now: 'object' }, fresh: 'value' });
});

clause('MEM-PATCH-003', 'decisions §8: changed content is embedded again: old words and meaning are gone, new ones found', async () => {
  const [category, oldWord, newWord] = [uniqueWord(), uniqueWord(), uniqueWord()];
  const { id } = await store(client, { content: `Volcanoes erupt molten rock. ${oldWord}`, metadata: { category } });
  const other = await store(client, { content: `Parliament passes laws on taxation. ${uniqueWord()}`, metadata: { category } });
  for (const each of [id, other.id]) await whenProcessed(client, each);
  expect(idsOf(await retrieve(client, { q: 'lava from a mountain', category }))[0]).toBe(id);
  await patch(id, { content: `Cats purr when they are stroked. ${newWord}` });
  await whenProcessed(client, id);
  await eventually(async () => {
    expect(idsOf(await retrieve(client, { keyword: oldWord, category }))).toEqual([]);
    expect(idsOf(await retrieve(client, { keyword: newWord, category }))).toEqual([id]);
  }, 5_000);
  expect(idsOf(await retrieve(client, { q: 'happy kitten noises', category }))[0]).toBe(id);
  const found = await retrieve(client, { keyword: newWord, category });
  expect(found.results[0]?.content).toBe(`Cats purr when they are stroked. ${newWord}`);
});

clause('MEM-PATCH-004', 'decisions §8: changed metadata counts in filters', async () => {
  const [word, before, after] = [uniqueWord(), uniqueWord(), uniqueWord()];
  const { id } = await store(client, { content: `Moves ${word}`, metadata: { category: before, tags: [before] } });
  await eventually(async () => expect(idsOf(await retrieve(client, { keyword: word, category: before }))).toEqual([id]));
  await patch(id, { metadata: { category: after, tags: [after] } });
  await eventually(async () => {
    expect(idsOf(await retrieve(client, { keyword: word, category: after, tags: after }))).toEqual([id]);
    expect(idsOf(await retrieve(client, { keyword: word, category: before }))).toEqual([]);
  }, 5_000);
});

clause('MEM-PATCH-005', 'decisions §4: wrong content, metadata and unknown fields are 400 and change nothing', async () => {
  const content = `Unchanged ${uniqueWord()}`;
  const { id } = await store(client, { content });
  expectInvalid(await client.patch(`/v1/memory/${id}`, { content: ' ' }), 'content');
  expectInvalid(await client.patch(`/v1/memory/${id}`, { content: 5 }), 'content');
  expectInvalid(await client.patch(`/v1/memory/${id}`, { metadata: 'x' }), 'metadata');
  expectInvalid(await client.patch(`/v1/memory/${id}`, { metadata: { tags: 'x' } }), 'tags');
  expectInvalid(await client.patch(`/v1/memory/${id}`, { content: 'x', status: 'archived' }), 'status');
  expectError(await client.patch(`/v1/memory/${id}`, { content: 'x'.repeat(1_048_577) }), 400, 'payload_too_large');
  expect(await read(id)).toMatchObject({ content, metadata: {}, updated_at: null });
});

clause('MEM-PATCH-006', 'interface §7: patching an unknown or deleted object is 404 not_found', async () => {
  expectError(await client.patch('/v1/memory/mem_unknown', { content: 'x' }), 404, 'not_found');
  const { id } = await store(client, { content: `Gone ${uniqueWord()}` });
  expect((await client.delete(`/v1/memory/${id}`)).status).toBe(200);
  expectError(await client.patch(`/v1/memory/${id}`, { metadata: { a: 1 } }), 404, 'not_found');
});

clause('MEM-PATCH-007', 'decisions §8: concurrent patches of different keys all count', async () => {
  const { id } = await store(client, { content: `Concurrent ${uniqueWord()}` });
  const keys = Array.from({ length: 12 }, (_, index) => `key${index}`);
  const answers = await Promise.all(keys.map((key) => client.patch(`/v1/memory/${id}`, { metadata: { [key]: true } })));
  expect(answers.map(({ status }) => status)).toEqual(keys.map(() => 200));
  expect((await read(id)).metadata).toEqual(Object.fromEntries(keys.map((key) => [key, true])));
});

clause('MEM-PATCH-008', 'decisions §6: the content that a patch replaced may be stored anew', async () => {
  const content = `Replaced ${uniqueWord()}`;
  const { id } = await store(client, { content });
  await patch(id, { content: `Other ${uniqueWord()}` });
  expect((await store(client, { content })).id).not.toBe(id);
});
