import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect } from 'vitest';
import { z } from 'zod';
import { type Answer, as, withKey } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually } from '../harness/eventually.ts';
import { idsOf, retrieve, stats } from '../harness/memory.ts';
import { type Server, startServer } from '../harness/server.ts';
import { ApiKeyPage, BatchReceipt, expectBody, expectError, NewApiKey, StoreReceipt } from '../harness/shapes.ts';
import { uniqueWord } from '../harness/words.ts';

const repeats = 50;
const rounds = 6;

let server: Server;
/** Requests that the kill cut off, and answers that were there before it: both must occur, or no kill came in the middle. */
let cutOff = 0;
let answeredBefore = 0;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

/** Sends one keyed request fifty times at once, kills the server among them, and repeats each until it has its answer. */
async function answersThroughKill(round: number, send: (headers: Record<string, string>) => Promise<Answer>): Promise<Answer[]> {
  const headers = { 'idempotency-key': uniqueWord() };
  let answered = 0;
  const { promise: enough, resolve: enoughAnswered } = Promise.withResolvers<void>();
  const enoughAt = 1 + Math.floor(Math.random() * 20);
  const repeatUntilAnswered = async (): Promise<Answer> => {
    for (;;) {
      const answer = await send(headers).catch(() => null);
      if (answer === null) cutOff += 1;
      else if (answer.status !== 409) {
        if ((answered += 1) === enoughAt) enoughAnswered();
        return answer;
      } else {
        expectError(answer, 409, 'idempotency_in_progress');
        expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
      }
      await delay(20);
    }
  };
  const all = Array.from({ length: repeats }, repeatUntilAnswered);
  // Before the first answer as often as among the answers: the commit may or may not have been made.
  await (round % 2 === 0 ? delay(Math.random() * 30) : enough);
  await server.kill();
  answeredBefore += answered;
  await server.restart();
  return Promise.all(all);
}

/** The one answer of all repeats. */
function expectOne(answers: readonly Answer[]): Answer {
  const [first] = answers;
  expect(first!.status, first!.text).toBe(201);
  expect(new Set(answers.map(({ text }) => text)).size, 'byte for byte').toBe(1);
  // None, if the kill came between the commit and its answer.
  expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === null).length).toBeLessThanOrEqual(1);
  return first!;
}

clause('SOAK-IDEM-001', 'decisions §6: fifty repeats of a store with a kill among them: one object, one answer', async () => {
  for (let round = 0; round < rounds; round += 1) {
    const before = await stats(as(server, 'read_write'));
    const word = uniqueWord();
    const answer = expectOne(await answersThroughKill(round, (headers) => as(server, 'read_write').post('/v1/memory/store', { content: `Fifty stores ${word}` }, headers)));
    const { id } = expectBody(answer, 201, StoreReceipt);
    const client = as(server, 'read_write');
    await eventually(async () => expect(idsOf(await retrieve(client, { keyword: word }))).toEqual([id]));
    await eventually(async () => expect((await stats(client)).stored).toBe(before.stored + 1));
  }
});

clause('SOAK-IDEM-002', 'decisions §6: fifty repeats of a batch with a kill among them: each object once, one answer', async () => {
  for (let round = 0; round < rounds; round += 1) {
    const before = await stats(as(server, 'read_write'));
    const word = uniqueWord();
    const memories = Array.from({ length: 20 }, (_, index) => ({ content: `Fifty batches ${word} ${index}` }));
    const answer = expectOne(await answersThroughKill(round, (headers) => as(server, 'read_write').post('/v1/memory/batch', { memories }, headers)));
    const ids = expectBody(answer, 201, BatchReceipt).results.map((result) => ('id' in result ? result.id : expect.fail(answer.text)));
    expect(new Set(ids).size).toBe(20);
    const client = as(server, 'read_write');
    await eventually(async () => expect(idsOf(await retrieve(client, { keyword: word, limit: 100 })).sort()).toEqual(ids.toSorted()));
    await eventually(async () => expect((await stats(client)).stored).toBe(before.stored + 20));
  }
});

clause('SOAK-IDEM-003', 'decisions §6: fifty repeats of a new API key with a kill among them: one key, which every answer shows and which works', async () => {
  for (let round = 0; round < rounds; round += 1) {
    const name = `Fifty keys ${uniqueWord()}`;
    const answer = expectOne(await answersThroughKill(round, (headers) => as(server, 'admin').post('/v1/api-keys', { name, level: 'read-only' }, headers)));
    const { id, key } = expectBody(answer, 201, NewApiKey);
    const { data } = expectBody(await as(server, 'admin').get('/v1/api-keys?limit=100'), 200, ApiKeyPage);
    expect(data.filter((one) => one.name === name).map((one) => one.id)).toEqual([id]);
    expect((await withKey(server, key).get('/v1/memory?limit=1')).status).toBe(200);
  }
});

clause('SOAK-IDEM-004', 'decisions §6: each of these commands left one entry in the audit log', async () => {
  const entries = z.looseObject({ data: z.array(z.looseObject({ operation: z.string() })), has_more: z.literal(false) });
  for (const [operation, times] of [['createApiKey', rounds], ['storeMemory', rounds], ['batchStoreMemory', rounds]] as const) {
    const log = expectBody(await as(server, 'admin').get(`/v1/audit-log?operation=${operation}&outcome=succeeded&limit=100`), 200, entries);
    expect(log.data, operation).toHaveLength(times);
  }
});

clause('SOAK-IDEM-005', 'decisions §6: the kills came in the middle: before some answers and after others', async () => {
  expect(cutOff).toBeGreaterThan(0);
  expect(answeredBefore).toBeGreaterThan(0);
});
