import { expect } from 'vitest';
import { z } from 'zod';
import { as } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually, whenProcessed } from '../harness/eventually.ts';
import { idsOf, retrieve, store, storeAll } from '../harness/memory.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { BatchReceipt, ErrorContent, expectBody, expectError, expectInvalid, MemoryObject } from '../harness/shapes.ts';
import { uniqueWord } from '../harness/words.ts';

const server = sharedServer();
const client = as(server, 'read_write');
const contentBytesMax = 1_048_576;

const postBatch = (memories: unknown) => client.post('/v1/memory/batch', { memories });
const unique = (title: string) => ({ content: `${title} ${uniqueWord()}` });
const RefusedBatch = z.strictObject({ ...BatchReceipt.shape, error: ErrorContent });

clause('MEM-BATCH-001', 'interface §4.1: 201 with stored, failed and results of {id, status} in the order of the request', async () => {
  const memories = Array.from({ length: 5 }, (_, index) => ({ ...unique(`Element ${index}`), metadata: { index } }));
  const receipt = expectBody(await postBatch(memories), 201, BatchReceipt);
  expect(receipt).toMatchObject({ stored: 5, failed: 0 });
  for (const [index, result] of receipt.results.entries()) {
    const { id } = expectStored(result);
    expect(expectBody(await client.get(`/v1/memory/${id}`), 200, MemoryObject)).toMatchObject(memories[index]!);
  }
});

clause('MEM-BATCH-002', 'interface §8: 100 objects are stored', async () => {
  const ids = await storeAll(client, Array.from({ length: 100 }, (_, index) => unique(`Hundred ${index}`)));
  expect(new Set(ids).size).toBe(100);
});

clause('MEM-BATCH-003', 'interface §8: 101 objects are 400 and nothing is stored', async () => {
  const word = uniqueWord();
  const memories = Array.from({ length: 101 }, (_, index) => ({ content: `${word} ${index}` }));
  expectInvalid(await postBatch(memories), 'memories');
  // The first of them is no duplicate: so it was not stored.
  await store(client, memories[0]!);
});

clause('MEM-BATCH-004', 'decisions §4: no memories, an empty array, no array and unknown fields are 400 naming the field', async () => {
  expectInvalid(await client.post('/v1/memory/batch', {}), 'memories');
  expect((await postBatch([])).status).toBe(400);
  expectInvalid(await postBatch({ content: 'x' }), 'memories');
  expectInvalid(await postBatch('x'), 'memories');
  expectInvalid(await client.post('/v1/memory/batch', { memories: [unique('Never')], atomic: true }), 'atomic');
});

clause('MEM-BATCH-005', 'decisions §8: invalid elements are reported as failed with index and error, all others are stored', async () => {
  const [first, second, third] = [unique('First'), unique('Second'), unique('Third')];
  const memories = [first, { content: '' }, second, { metadata: {} }, { ...unique('x'), ttl_seconds: 0 }, { ...unique('x'), colour: 'red' }, 'text', null, third];
  const receipt = expectBody(await postBatch(memories), 201, BatchReceipt);
  expect(receipt).toMatchObject({ stored: 3, failed: 6 });
  expect(receipt.results.map((result) => ('index' in result ? result.index : result.status))).toEqual(['stored', 1, 'stored', 3, 4, 5, 6, 7, 'stored']);
  const contents = await Promise.all([0, 2, 8].map(async (index) => expectBody(await client.get(`/v1/memory/${expectStored(receipt.results[index]).id}`), 200, MemoryObject).content));
  expect(contents).toEqual([first.content, second.content, third.content]);
  for (const index of [1, 3, 4, 5, 6, 7]) expect(receipt.results[index]).toMatchObject({ status: 'failed', error: { code: 'validation_error' } });
});

clause('MEM-BATCH-006', 'decisions §8: duplicates of a live object are reported as failed, all others are stored', async () => {
  const known = unique('Known');
  await store(client, known);
  const receipt = expectBody(await postBatch([known, unique('New')]), 201, BatchReceipt);
  expect(receipt).toMatchObject({ stored: 1, failed: 1, results: [{ index: 0, status: 'failed', error: { code: 'duplicate_content' } }, { status: 'stored' }] });
});

clause('MEM-BATCH-007', 'decisions §8: equal contents within one batch are stored once', async () => {
  const same = unique('Same');
  const receipt = expectBody(await postBatch([same, unique('Other'), same, same]), 201, BatchReceipt);
  expect(receipt).toMatchObject({ stored: 2, failed: 2 });
  expect(receipt.results[0]).toMatchObject({ status: 'stored' });
  for (const index of [2, 3]) expect(receipt.results[index]).toMatchObject({ index, status: 'failed', error: { code: 'duplicate_content' } });
});

clause('MEM-BATCH-008', 'decisions §8: when nothing was stored the answer is 400 with the same body plus error validation_error', async () => {
  const known = unique('Known');
  await store(client, known);
  const answer = await postBatch([{ content: ' ' }, known]);
  const refused = expectBody(answer, 400, RefusedBatch);
  expect(refused).toMatchObject({ stored: 0, failed: 2, results: [{ index: 0 }, { index: 1, error: { code: 'duplicate_content' } }], error: { code: 'validation_error', status: 400 } });
  expect(refused.error.request_id).toBe(answer.headers.get('x-request-id'));
});

clause('MEM-BATCH-009', 'interface §4.1: elements are shaped like the store request: metadata, workspace_id and ttl_seconds', async () => {
  const admin = as(server, 'admin');
  const { research } = server.credentials.workspaces;
  const [id = ''] = await storeAll(admin, [{ ...unique('Element'), metadata: { tags: ['x'], own: { key: 1 } }, workspace_id: research, ttl_seconds: 3600 }]);
  expect(expectBody(await admin.get(`/v1/memory/${id}`), 200, MemoryObject)).toMatchObject({ workspace_id: research, metadata: { tags: ['x'], own: { key: 1 } } });
});

clause('MEM-BATCH-010', 'interface §8: each element may have 1 MB: the batch as a whole has no smaller limit', async () => {
  const large = Array.from({ length: 20 }, () => ({ content: uniqueWord() + 'x'.repeat(contentBytesMax) }));
  const receipt = expectBody(await postBatch([...large, unique('Small')]), 201, BatchReceipt);
  expect(receipt).toMatchObject({ stored: 1, failed: 20 });
  expect(receipt.results[20]).toMatchObject({ status: 'stored' });
  for (const [index, result] of receipt.results.slice(0, 20).entries()) expect(result).toMatchObject({ index, status: 'failed' });
});

clause('MEM-BATCH-011', 'interface §3.1: batch objects are found by keyword and processed like any other', async () => {
  const word = uniqueWord();
  const ids = await storeAll(client, Array.from({ length: 10 }, (_, index) => ({ content: `Batch ${word} ${index}` })));
  await eventually(async () => expect(idsOf(await retrieve(client, { keyword: word, limit: 100 })).sort()).toEqual(ids.toSorted()), 2_000);
  for (const id of ids) await whenProcessed(client, id);
});

clause('MEM-BATCH-012', 'decisions §8: concurrent batches that overlap store each content exactly once', async () => {
  const memories = Array.from({ length: 20 }, (_, index) => unique(`Overlap ${index}`));
  const answers = await Promise.all(Array.from({ length: 5 }, () => postBatch(memories)));
  const stored = answers.flatMap((answer) => {
    expect([201, 400], answer.text).toContain(answer.status);
    return (answer.body as z.output<typeof BatchReceipt>).results.filter((result) => 'id' in result);
  });
  expect(stored).toHaveLength(20);
  for (const memory of memories) expectError(await client.post('/v1/memory/store', memory), 409, 'duplicate_content');
});

function expectStored(result: unknown): { id: string } {
  expect(result).toMatchObject({ status: 'stored' });
  return result as { id: string };
}
