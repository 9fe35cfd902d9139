import { expect } from 'vitest';
import { as, type HttpClient } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually } from '../harness/eventually.ts';
import { storeAll } from '../harness/memory.ts';
import { startServer } from '../harness/server.ts';
import { type Receiver, startReceiver } from '../harness/webhook-receiver.ts';
import { createWebhook, typesOf } from '../harness/webhooks.ts';
import { uniqueWord } from '../harness/words.ts';

const perSecond = 100;
const failing = 0.3;

/** Long enough that nobody gives up: with three failures in ten the tenth try in a row fails once in 170,000 times. */
const env = { WEBHOOK_RETRY_SECONDS: '0.2,0.5,1,2,2,2,2,2,2,2,2,2', WEBHOOK_TIMEOUT_SECONDS: '2' };

/** A second of 200 events: 100 objects are stored, and 100 that were stored before are deleted. */
async function oneSecond(client: HttpClient, earlier: readonly string[]): Promise<string[]> {
  const began = performance.now();
  const stored = await storeAll(client, Array.from({ length: 100 }, () => ({ content: `Load ${uniqueWord()} ${uniqueWord()}` })));
  for (let first = 0; first < earlier.length; first += 10) {
    const answers = await Promise.all(earlier.slice(first, first + 10).map((id) => client.delete(`/v1/memory/${id}`)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  }
  await eventually(async () => expect(performance.now() - began).toBeGreaterThanOrEqual(1000));
  return stored;
}

/** Every event of every object was accepted, and first in the order in which they happened. */
function expectComplete(receiver: Receiver, stored: readonly string[], deleted: ReadonlySet<string>): void {
  const bySubject = Map.groupBy(receiver.accepted, ({ body }) => body.data['id'] as string);
  for (const id of stored) {
    const told = [...new Set(typesOf(bySubject.get(id) ?? []))];
    expect(told, id).toEqual(deleted.has(id) ? ['memory.stored', 'memory.deleted'] : ['memory.stored']);
  }
}

/** No message was sent before an earlier one of its subject had been accepted. */
function expectOrder(receiver: Receiver): void {
  for (const arrivals of Map.groupBy(receiver.arrivals, ({ body }) => body.data['id']).values()) {
    const first = arrivals.findIndex(({ body }) => body.type === 'memory.deleted');
    if (first === -1) continue;
    expect(arrivals.slice(0, first).some(({ body, status }) => body.type === 'memory.stored' && status === 204), JSON.stringify(arrivals.map(({ body, status }) => [body.type, status]))).toBe(true);
    expect(arrivals.slice(first).map(({ body }) => body.type)).not.toContain('memory.stored');
  }
}

clause('SOAK-WEBHOOK-001', 'decisions §12: 200 events a second to a receiver that fails three times in ten: all arrive, in order per subject, never more than 100 in any second', async () => {
  await using server = await startServer({ env });
  await using receiver = await startReceiver();
  receiver.answerWith(() => (Math.random() < failing ? 500 : 204));
  const client = as(server, 'read_write');
  await createWebhook(as(server, 'admin'), receiver, ['memory.stored', 'memory.deleted']);
  const began = performance.now();
  const stored: string[] = [];
  for (let second = 0; second < 30; second += 1) stored.push(...(await oneSecond(client, stored.slice(-100))));
  const loadMs = performance.now() - began;
  const deleted = new Set(stored.slice(0, -100));
  const events = stored.length + deleted.size;
  await eventually(async () => expect(new Set(receiver.accepted.map(({ body }) => body.id)).size).toBe(events), 300_000);
  const tookMs = performance.now() - began;

  expectComplete(receiver, stored, deleted);
  expectOrder(receiver);
  expect(receiver.busiestSecond()).toBeLessThanOrEqual(perSecond);
  console.log(
    `${events} events in ${(loadMs / 1000).toFixed(1)} s; ${receiver.arrivals.length} attempts, ${receiver.arrivals.length - receiver.accepted.length} refused, in ${(tookMs / 1000).toFixed(1)} s: ` +
      `${((receiver.arrivals.length / tookMs) * 1000).toFixed(1)} a second, ${receiver.busiestSecond()} in the busiest; accepted twice: ${receiver.accepted.length - events}`,
  );
});

clause('SOAK-WEBHOOK-002', 'decisions §12: a kill in the middle loses no event', async () => {
  await using server = await startServer({ env });
  await using receiver = await startReceiver();
  receiver.answerWith(() => (Math.random() < failing ? 500 : 204));
  await createWebhook(as(server, 'admin'), receiver, ['memory.stored', 'memory.deleted']);
  const stored: string[] = [];
  for (let round = 0; round < 3; round += 1) {
    const client = as(server, 'read_write');
    for (let second = 0; second < 3; second += 1) stored.push(...(await oneSecond(client, stored.slice(-100))));
    const before = receiver.arrivals.length;
    await eventually(async () => expect(receiver.arrivals.length).toBeGreaterThan(before + 20));
    await server.kill();
    await server.restart();
  }
  const deleted = new Set(stored.slice(0, -100));
  const events = stored.length + deleted.size;
  await eventually(async () => expect(new Set(receiver.accepted.map(({ body }) => body.id)).size).toBe(events), 300_000);
  expectComplete(receiver, stored, deleted);
  expectOrder(receiver);
  expect(receiver.busiestSecond()).toBeLessThanOrEqual(perSecond);
  console.log(`${events} events, 3 kills: ${receiver.arrivals.length} attempts; accepted twice: ${receiver.accepted.length - events}; ${receiver.busiestSecond()} in the busiest second`);
});
