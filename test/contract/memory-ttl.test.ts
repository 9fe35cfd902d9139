import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect } from 'vitest';
import { as, type HttpClient } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually, whenProcessed } from '../harness/eventually.ts';
import { idsOf, list, retrieve, stats, store } from '../harness/memory.ts';
import { type Server, startServer } from '../harness/server.ts';
import { expectBody, expectError, MemoryObject } from '../harness/shapes.ts';
import { uniqueWord } from '../harness/words.ts';

let server: Server;
let client: HttpClient;

beforeAll(async () => {
  server = await startServer({ env: { MEMORY_SWEEP_SECONDS: '1', VAULT_RETENTION_SECONDS: '2' } });
  client = as(server, 'read_write');
});
afterAll(() => server.stop());

const read = async (id: string) => expectBody(await client.get(`/v1/memory/${id}`), 200, MemoryObject);
const listedIds = async () => (await list(client, { limit: 1000 })).results.map((item) => item.id);

async function storeArchived(content: string, category = 'archived'): Promise<string> {
  const { id } = await store(client, { content, metadata: { category }, ttl_seconds: 1 });
  await eventually(async () => expect((await read(id)).status).toBe('archived'));
  return id;
}

/** With the shortest life in which this machine can process it: what is archived before stays unprocessed. */
async function storeProcessed(content: string, category: string): Promise<string> {
  for (let seconds = 4; ; seconds *= 2) {
    const { id } = await store(client, { content, metadata: { category }, ttl_seconds: seconds });
    for (;;) {
      const { status, processing } = await read(id);
      if (processing.embedding_status === 'completed') return id;
      if (status === 'archived') break;
      await delay(50);
    }
  }
}

clause('MEM-TTL-001', 'interface §3.1: after ttl_seconds an object is archived, not before', async () => {
  const before = performance.now();
  const { id } = await store(client, { content: `Short ${uniqueWord()}`, ttl_seconds: 3 });
  await eventually(async () => expect((await read(id)).status).toBe('archived'));
  expect(performance.now() - before).toBeGreaterThanOrEqual(3_000);
});

clause('MEM-TTL-002', 'decisions §8: an archived object is out of search and lists, readable by id with status archived', async () => {
  const [word, category] = [uniqueWord(), uniqueWord()];
  const content = `Fades ${word}`;
  const id = await storeProcessed(content, category);
  await eventually(async () => expect((await read(id)).status).toBe('archived'));
  await eventually(async () => {
    for (const mode of ['keyword', 'semantic', 'hybrid']) expect(await retrieve(client, { q: word, mode, category }), mode).toMatchObject({ results: [], total: 0 });
    expect(await listedIds()).not.toContain(id);
  });
  expect(await read(id)).toMatchObject({ content, status: 'archived', metadata: { category } });
});

clause('MEM-TTL-003', 'decisions §6: after archival the same content may be stored again', async () => {
  const content = `Again ${uniqueWord()}`;
  const id = await storeArchived(content);
  expect((await store(client, { content })).id).not.toBe(id);
});

clause('MEM-TTL-004', 'interface §4.1: an object without ttl_seconds, or with a long one, stays stored', async () => {
  const kept = await store(client, { content: `Stays ${uniqueWord()}` });
  const long = await store(client, { content: `Stays long ${uniqueWord()}`, ttl_seconds: 86_400 });
  await storeArchived(`Meanwhile ${uniqueWord()}`);
  expect((await read(kept.id)).status).toBe('stored');
  expect((await read(long.id)).status).toBe('stored');
});

clause('MEM-TTL-005', 'interface §3.1: what expired while the server was down is archived after the start', async () => {
  const { id } = await store(client, { content: `Expires in absence ${uniqueWord()}`, ttl_seconds: 1 });
  await server.restart();
  await eventually(async () => expect((await read(id)).status).toBe('archived'));
});

clause('MEM-RESTORE-001', 'decisions §8: an archived object can be restored: it is stored again, in search and in lists, and stays so', async () => {
  const [word, category] = [uniqueWord(), uniqueWord()];
  const id = await storeArchived(`Returns ${word}`, category);
  const answer = await client.post(`/v1/memory/${id}/restore`);
  expect(answer.status, answer.text).toBe(200);
  expect(await read(id)).toMatchObject({ status: 'stored', content: `Returns ${word}` });
  await whenProcessed(client, id);
  await eventually(async () => {
    for (const mode of ['keyword', 'semantic', 'hybrid']) expect(idsOf(await retrieve(client, { q: word, mode, category })), mode).toEqual([id]);
    expect(await listedIds()).toContain(id);
  });
  // A sweep later it is still there: its old term is over.
  await storeArchived(`Meanwhile ${uniqueWord()}`);
  expect((await read(id)).status).toBe('stored');
});

clause('MEM-RESTORE-002', 'interface §7: restoring an unknown object is 404 not_found', async () => {
  expectError(await client.post('/v1/memory/mem_unknown/restore'), 404, 'not_found');
});

clause('MEM-STATS-001', 'decisions §8: stats count stored objects and their bytes', async () => {
  const before = await stats(client);
  const content = `Größe ${uniqueWord()}`;
  await store(client, { content });
  await store(client, { content: `${content} 2` });
  await eventually(async () => expect(await stats(client)).toMatchObject({ stored: before.stored + 2, bytes: before.bytes + 2 * Buffer.byteLength(content) + 2 }));
});

clause('MEM-STATS-002', 'decisions §8: stats count archived, deleted and purged objects', async () => {
  const before = await stats(client);
  await storeArchived(`Counted ${uniqueWord()}`);
  await eventually(async () => expect(await stats(client)).toMatchObject({ stored: before.stored, archived: before.archived + 1 }));
  const { id } = await store(client, { content: `Purged ${uniqueWord()}` });
  expect((await client.delete(`/v1/memory/${id}`)).status).toBe(200);
  await eventually(async () => expect((await stats(client)).deleted).toBe(before.deleted + 1), 1_500);
  await eventually(async () => expect(await stats(client)).toMatchObject({ deleted: before.deleted, purged: before.purged + 1 }));
});

clause('MEM-PURGE-001', 'interface §3.1: a deleted object is kept for the vault\'s retention, then permanently deleted', async () => {
  const before = await stats(client);
  const start = performance.now();
  const { id } = await store(client, { content: `Kept two seconds ${uniqueWord()}` });
  expect((await client.delete(`/v1/memory/${id}`)).status).toBe(200);
  await eventually(async () => expect((await stats(client)).purged).toBe(before.purged + 1));
  expect(performance.now() - start).toBeGreaterThanOrEqual(2_000);
  expectError(await client.get(`/v1/memory/${id}`), 404, 'not_found');
});

clause('MEM-PURGE-002', 'decisions §8: purges are counted per workspace', async () => {
  const stranger = as(server, 'other_read_write');
  const before = await stats(stranger);
  const { id } = await store(client, { content: `Ours alone ${uniqueWord()}` });
  expect((await client.delete(`/v1/memory/${id}`)).status).toBe(200);
  const ours = await stats(client);
  await eventually(async () => expect((await stats(client)).purged).toBeGreaterThan(ours.purged));
  expect(await stats(stranger)).toEqual(before);
});
