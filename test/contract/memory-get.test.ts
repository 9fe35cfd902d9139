import { expect } from 'vitest';
import { as } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { whenProcessed } from '../harness/eventually.ts';
import { store } from '../harness/memory.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { expectBody, expectError, expectInvalid, MemoryObject } from '../harness/shapes.ts';
import { uniqueWord } from '../harness/words.ts';

const client = as(sharedServer(), 'read_write');

clause('MEM-GET-001', 'interface §4.1: 200 with id, content, vault_id, workspace_id, created_at, updated_at, metadata, processing, and the status of decisions §8', async () => {
  const content = `To be read ${uniqueWord()}`;
  const stored = await store(client, { content, metadata: { source: 'test' } });
  const { id, vault_id, workspace_id, created_at } = stored;
  const object = expectBody(await client.get(`/v1/memory/${id}`), 200, MemoryObject);
  expect(object).toMatchObject({ id, vault_id, workspace_id, created_at, content, metadata: { source: 'test' }, updated_at: null, status: 'stored' });
});

clause('MEM-GET-002', 'interface §4.1: an unknown id is 404 not_found, whatever it looks like', async () => {
  for (const id of ['mem_unknown', 'mem_01h455vb4pex5vsknk084sn02q', 'unknown', '0', 'mem_', encodeURIComponent("mem_' or 1=1 --"), encodeURIComponent('mem_ü🙂'), 'x'.repeat(500)]) {
    const answer = await client.get(`/v1/memory/${id}`);
    expect(answer.status, id).toBe(404);
    expectError(answer, 404, 'not_found');
  }
});

clause('MEM-GET-003', 'decisions §4: an unknown query parameter is 400', async () => {
  const { id } = await store(client, { content: `Parameter ${uniqueWord()}` });
  expectInvalid(await client.get(`/v1/memory/${id}?fields=all`), 'fields');
});

clause('MEM-GET-004', 'interface §2.1: entities are there once extraction has completed, not before', async () => {
  const { id } = await store(client, { content: `Angela Merkel met Satya Nadella of Microsoft in Berlin. ${uniqueWord()}` });
  const early = expectBody(await client.get(`/v1/memory/${id}`), 200, MemoryObject).processing;
  if (early.entity_extraction_status === 'pending') expect(early.entities).toBeUndefined();
  const { entities } = (await whenProcessed(client, id)).processing;
  expect(entities).toEqual(expect.arrayContaining([expect.stringContaining('Merkel'), expect.stringContaining('Microsoft'), expect.stringContaining('Berlin')]));
});

clause('MEM-GET-005', 'interface §2.1: an object without entities has an empty list once extraction has completed', async () => {
  const { id } = await store(client, { content: `nothing but small words of no one ${uniqueWord()}` });
  expect((await whenProcessed(client, id)).processing.entities).toBeInstanceOf(Array);
});
