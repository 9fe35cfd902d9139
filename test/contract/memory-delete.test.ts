import { expect } from 'vitest';
import { as } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually, whenProcessed } from '../harness/eventually.ts';
import { idsOf, list, retrieve, store } from '../harness/memory.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { DeleteReceipt, expectBody, expectError, expectInvalid } from '../harness/shapes.ts';
import { uniqueWord } from '../harness/words.ts';

const client = as(sharedServer(), 'read_write');

clause('MEM-DELETE-001', 'interface §4.1: 200 with id, status deleted and deleted_at', async () => {
  const { id, created_at } = await store(client, { content: `Delete me ${uniqueWord()}` });
  const receipt = expectBody(await client.delete(`/v1/memory/${id}`), 200, DeleteReceipt);
  expect(receipt.id).toBe(id);
  expect(new Date(receipt.deleted_at).getTime()).toBeGreaterThanOrEqual(new Date(created_at).getTime());
});

clause('MEM-DELETE-002', 'decisions §8: a deleted object answers 404 to GET at once, and to everything else by id', async () => {
  const { id } = await store(client, { content: `Gone ${uniqueWord()}` });
  expect((await client.delete(`/v1/memory/${id}`)).status).toBe(200);
  expectError(await client.get(`/v1/memory/${id}`), 404, 'not_found');
  expectError(await client.delete(`/v1/memory/${id}`), 404, 'not_found');
  expectError(await client.post(`/v1/memory/${id}/restore`), 404, 'not_found');
  expectError(await client.get(`/v1/memory/${id}/related`), 404, 'not_found');
});

clause('MEM-DELETE-003', 'interface §3.1: a deleted object is excluded from search and list', async () => {
  const [word, category] = [uniqueWord(), uniqueWord()];
  const { id } = await store(client, { content: `Vanishes: ${word}`, metadata: { category } });
  await whenProcessed(client, id);
  await eventually(async () => {
    expect(idsOf(await retrieve(client, { keyword: word }))).toEqual([id]);
    expect((await list(client, { limit: 1000 })).results.map((item) => item.id)).toContain(id);
  });
  expect((await client.delete(`/v1/memory/${id}`)).status).toBe(200);
  await eventually(async () => {
    for (const mode of ['keyword', 'semantic', 'hybrid']) {
      expect(await retrieve(client, { q: word, mode, category }), mode).toMatchObject({ results: [], total: 0 });
    }
    expect((await list(client, { limit: 1000 })).results.map((item) => item.id)).not.toContain(id);
  }, 2_000);
});

clause('MEM-DELETE-004', 'interface §7: deleting an unknown id is 404 not_found', async () => {
  expectError(await client.delete('/v1/memory/mem_unknown'), 404, 'not_found');
});

clause('MEM-DELETE-005', 'interface §3.1: of concurrent deletions exactly one succeeds', async () => {
  const { id } = await store(client, { content: `Once only ${uniqueWord()}` });
  const answers = await Promise.all(Array.from({ length: 10 }, () => client.delete(`/v1/memory/${id}`)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(9).fill(404)]);
});

clause('MEM-DELETE-006', 'decisions §4: an unknown query parameter is 400 and nothing is deleted', async () => {
  const { id } = await store(client, { content: `Kept ${uniqueWord()}` });
  expectInvalid(await client.delete(`/v1/memory/${id}?hard=true`), 'hard');
  expect((await client.get(`/v1/memory/${id}`)).status).toBe(200);
});

clause('MEM-DELETE-007', 'interface §3.1: an object deleted while it is being processed stays deleted', async () => {
  const ids = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const { id } = await store(client, { content: `Short life ${uniqueWord()}` });
      expect((await client.delete(`/v1/memory/${id}`)).status).toBe(200);
      return id;
    }),
  );
  const last = await store(client, { content: `Processed after them ${uniqueWord()}` });
  await whenProcessed(client, last.id);
  for (const id of ids) expectError(await client.get(`/v1/memory/${id}`), 404, 'not_found');
});
