import { afterAll, beforeAll, expect } from 'vitest';
import { z } from 'zod';
import { as } from '../harness/actors.ts';
import type { Answer, HttpClient } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { startServer } from '../harness/server.ts';
import type { Server } from '../harness/server.ts';
import { ErrorContent, expectBody, IsoUtc } from '../harness/shapes.ts';

const storedBytesMax = 10_000;
const requestsMax = 400;

let server: Server;
let mine: HttpClient;
let others: HttpClient;
beforeAll(async () => {
  server = await startServer({ env: { QUOTA_STORED_BYTES: `${storedBytesMax}`, QUOTA_REQUESTS_PER_MONTH: `${requestsMax}` } });
  mine = as(server, 'read_write');
  others = as(server, 'other_read_write');
});
afterAll(() => server.stop());

let number = 0;
/** Of exactly so many bytes, and like no other. */
const contentOf = (bytes: number): string => `${(number += 1)} `.padEnd(bytes, 'x');

const store = (client: HttpClient, bytes: number, headers: Record<string, string> = {}): Promise<Answer> => client.post('/v1/memory/store', { content: contentOf(bytes) }, headers);

const idOf = (answer: Answer): string => (answer.body as { id: string }).id;

const Quota = z.strictObject({ error: ErrorContent.extend({ code: z.literal('quota_exceeded'), quota: z.enum(['requests_per_month', 'stored_bytes', 'compute_seconds']), resets_at: IsoUtc.nullable() }) });

/** Answers when the quota begins anew. */
function expectQuota(answer: Answer, quota: string): string | null {
  const { error } = expectBody(answer, 403, Quota);
  expect(error.quota).toBe(quota);
  expect(error.request_id).toBe(answer.headers.get('x-request-id'));
  return error.resets_at;
}

clause('QUOTA-BYTES-001', 'decisions §7: what does not fit into QUOTA_STORED_BYTES is 403 quota_exceeded; what fits is stored, by organization', async () => {
  const first = await store(mine, 6_000);
  expect(first.status).toBe(201);
  expect(expectQuota(await store(mine, 4_001), 'stored_bytes')).toBeNull();
  const second = await store(mine, 4_000);
  expect(second.status).toBe(201);
  expectQuota(await store(mine, 10), 'stored_bytes');
  expect((await store(others, 5_000)).status).toBe(201);
  for (const id of [idOf(first), idOf(second)]) expect((await mine.delete(`/v1/memory/${id}`)).status).toBe(200);
  const after = await store(mine, 9_000);
  expect(after.status).toBe(201);
  await mine.delete(`/v1/memory/${idOf(after)}`);
});

clause('QUOTA-BYTES-002', 'decisions §7: the quota of stored bytes is exact, however many store at once', async () => {
  const answers = await Promise.all(Array.from({ length: 60 }, () => store(mine, 500)));
  const stored = answers.filter(({ status }) => status === 201);
  expect(stored).toHaveLength(storedBytesMax / 500);
  for (const answer of answers) if (answer.status !== 201) expectQuota(answer, 'stored_bytes');
  await Promise.all(stored.map((answer) => mine.delete(`/v1/memory/${idOf(answer)}`)));
});

clause('QUOTA-BYTES-003', 'decisions §7: a batch is stored as far as it fits, and is 403 when nothing of it does', async () => {
  const batch = (sizes: readonly number[]): Promise<Answer> => mine.post('/v1/memory/batch', { memories: sizes.map((bytes) => ({ content: contentOf(bytes) })) });
  const answer = await batch([4_000, 4_000, 4_000]);
  const { stored, failed, results } = answer.body as { stored: number; failed: number; results: { id: string; status: string; error?: { code: string } }[] };
  expect({ stored, failed }).toEqual({ stored: 2, failed: 1 });
  expect(results[2]).toMatchObject({ status: 'failed', error: { code: 'quota_exceeded' } });
  expectQuota(await batch([2_001, 2_001]), 'stored_bytes');
  for (const { id, status } of results) if (status === 'stored') await mine.delete(`/v1/memory/${id}`);
});

clause('QUOTA-BYTES-004', 'decisions §7: a change that grows beyond the quota is refused and changes nothing; one that shrinks is not', async () => {
  const [small, large] = [await store(mine, 1_000), await store(mine, 9_000)];
  const path = `/v1/memory/${idOf(small)}`;
  expectQuota(await mine.patch(path, { content: contentOf(1_001) }), 'stored_bytes');
  expect(((await mine.get(path)).body as { content: string }).content).toHaveLength(1_000);
  expect((await mine.patch(path, { content: contentOf(900) })).status).toBe(200);
  expect((await store(mine, 100)).status).toBe(201);
  expect((await mine.patch(path, { metadata: { department: 'finance' } })).status).toBe(200);
  await mine.delete(`/v1/memory/${idOf(large)}`);
  await mine.delete(path);
});

clause('QUOTA-BYTES-005', 'decisions §6: a refusal by quota is not kept with its idempotency key', async () => {
  const full = await store(mine, 9_500);
  const headers = { 'idempotency-key': 'when-there-is-room' };
  const body = { content: contentOf(800) };
  expectQuota(await mine.post('/v1/memory/store', body, headers), 'stored_bytes');
  await mine.delete(`/v1/memory/${idOf(full)}`);
  expect((await mine.post('/v1/memory/store', body, headers)).status).toBe(201);
});

clause('QUOTA-REQUESTS-001', 'decisions §7: beyond QUOTA_REQUESTS_PER_MONTH an organization gets 403 quota_exceeded until the month ends, and others go on', async () => {
  const answers: Answer[] = [];
  while (answers.at(-1)?.status !== 403) {
    expect(answers.length).toBeLessThan(requestsMax + 1);
    answers.push(await mine.get('/v1/memory?limit=1'));
  }
  const resetsAt = expectQuota(answers.at(-1)!, 'requests_per_month');
  const now = new Date();
  expect(resetsAt).toBe(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)).toISOString());
  // Every credential of the organization, and the graph too.
  expectQuota(await as(server, 'architect_user').get('/v1/workspaces'), 'requests_per_month');
  const graph = await mine.post('/graphql', { query: '{ organization { name } }' });
  expect((graph.body as { errors: { extensions: { code: string } }[] }).errors[0]!.extensions.code).toBe('quota_exceeded');
  expect((await others.get('/v1/memory?limit=1')).status).toBe(200);
});

clause('QUOTA-REQUESTS-002', 'decisions §7: the count of the month outlives a restart', async () => {
  await server.restart();
  expectQuota(await mine.get('/v1/memory?limit=1'), 'requests_per_month');
  expect((await others.get('/v1/memory?limit=1')).status).toBe(200);
});

clause('QUOTA-COMPUTE-001', 'decisions §7: beyond QUOTA_COMPUTE_SECONDS what needs processing is 403 quota_exceeded; reading and deleting go on', async () => {
  await using slow = await startServer({ env: { QUOTA_COMPUTE_SECONDS: '1' } });
  const client = as(slow, 'read_write');
  // Passage by passage, one book after the other: how many a second takes depends on the machine.
  const book = Array.from({ length: 8_000 }, (_, index) => `word${index % 997}`).join(' ');
  const processing = async (path: string): Promise<string> => ((await client.get(path)).body as { processing: { embedding_status: string } }).processing.embedding_status;
  const paths: string[] = [];
  for (;;) {
    const answer = await client.post('/v1/memory/store', { content: `${paths.length} ${book}` });
    if (answer.status !== 201) break;
    paths.push(`/v1/memory/${idOf(answer)}`);
    await expect.poll(() => processing(paths.at(-1)!), { timeout: 300_000, interval: 50 }).toBe('completed');
  }
  const path = paths[0]!;
  expect(expectQuota(await store(client, 100), 'compute_seconds')).toMatch(/-01T00:00:00\.000Z$/);
  expectQuota(await client.post('/v1/memory/batch', { memories: [{ content: contentOf(50) }] }), 'compute_seconds');
  expectQuota(await client.patch(path, { content: 'shorter' }), 'compute_seconds');
  expect((await client.patch(path, { metadata: { department: 'finance' } })).status).toBe(200);
  expect((await store(as(slow, 'other_read_write'), 100)).status).toBe(201);
  expect((await client.delete(path)).status).toBe(200);
});
