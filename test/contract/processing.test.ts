import { expect } from 'vitest';
import { as } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually, whenProcessed } from '../harness/eventually.ts';
import { idsOf, retrieve, store, storeAll } from '../harness/memory.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { expectBody, MemoryObject } from '../harness/shapes.ts';
import { uniqueWord } from '../harness/words.ts';

const client = as(sharedServer(), 'read_write');

clause('PROC-001', 'interface §3.1: background processing completes both statuses and fills the entities', async () => {
  const { id } = await store(client, { content: `Marie Curie worked with Pierre Curie in Paris. ${uniqueWord()}` });
  const { processing } = await whenProcessed(client, id);
  expect(processing).toMatchObject({ embedding_status: 'completed', entity_extraction_status: 'completed' });
  expect(processing.entities?.join(' ')).toContain('Curie');
});

clause('PROC-002', 'interface §8: embedding a large document takes at most 30 seconds', async () => {
  const content = `${'The harbour master recorded the arrival of the vessel and its cargo in the log. '.repeat(1_200)}${uniqueWord()}`;
  const { id } = await store(client, { content });
  await whenProcessed(client, id, 30_000);
});

clause('PROC-003', 'interface §3.1: every object of a burst is processed', async () => {
  const category = uniqueWord();
  const ids = await storeAll(client, Array.from({ length: 300 }, (_, index) => ({ content: `Burst ${category} ${index}`, metadata: { category } })));
  for (const id of ids) await whenProcessed(client, id);
  expect((await retrieve(client, { q: 'burst', category, limit: 100 })).total).toBe(300);
});

clause('PROC-004', 'interface §8.2 rule 5: a completed status never goes back by itself', async () => {
  const { id } = await store(client, { content: `Settled ${uniqueWord()}` });
  const completed = await whenProcessed(client, id);
  for (let read = 0; read < 20; read += 1) expect(expectBody(await client.get(`/v1/memory/${id}`), 200, MemoryObject)).toEqual(completed);
});

clause('PROC-005', 'interface §3.1: content that gives a tokenizer nothing is processed too', async () => {
  const contents = ['.'.repeat(500), '🙂'.repeat(300), 'x'.repeat(20_000), '\u0301'.repeat(200), '漢字'.repeat(2_000), `${'A'.repeat(64)}\n`.repeat(200), '0 1 2 3 4 5'];
  for (const content of contents) {
    const { id } = await store(client, { content: `${content}${uniqueWord()}` });
    await whenProcessed(client, id);
  }
});

clause('PROC-006', 'interface §3.1: a change while the object is being processed is processed as well', async () => {
  const word = uniqueWord();
  const { id } = await store(client, { content: `First text ${uniqueWord()}` });
  for (let round = 0; round < 5; round += 1) expect((await client.patch(`/v1/memory/${id}`, { content: `Text ${round} ${round === 4 ? word : uniqueWord()}` })).status).toBe(200);
  expect((await whenProcessed(client, id)).content).toBe(`Text 4 ${word}`);
  await eventually(async () => expect(idsOf(await retrieve(client, { keyword: word }))).toEqual([id]));
});
