import { createClient } from 'graphql-ws';
import type { Client } from 'graphql-ws';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { WebSocket } from 'ws';
import { makeGround, startProduct } from './harness.ts';
import { latency, ownCpuSeconds, quantile, Report } from './report.ts';

// Claim: an event reaches 2,000 live subscribers of one gateway, p99 within 500 ms of its commit; when they have left, nothing
// of them is left behind. Client and server share the machine. Each subscriber has a connection of its own; they hold twenty
// different keys. Baseline: one subscriber, in the same run.
//   live.js [--subscribers 2000] [--events 10] [--waves 3] [--assert]
const { values } = parseArgs({
  options: {
    subscribers: { type: 'string', default: '2000' },
    events: { type: 'string', default: '10' },
    waves: { type: 'string', default: '3' },
    assert: { type: 'boolean', default: false },
  },
});
const subscribers = Number(values.subscribers);
const events = Number(values.events);
const waves = Number(values.waves);
const keysCount = 20;
const p99MaxMs = 500;
/** V8 and the allocator keep some of what they had; a leak grows with every wave. */
const keptMax = 1.15;

const report = new Report();
const ground = await makeGround();
const server = await startProduct(ground, { env: { LIVE_CONNECTIONS_PER_ADDRESS: String(subscribers + 10) } });
const { client } = server;
const keys = await Promise.all(Array.from({ length: keysCount }, async (_, index) => (await server.admin.post<{ key: string }>('/v1/api-keys', JSON.stringify({ name: `bench ${index}`, level: 'read-only' }))).key));
const { id } = await client.post<{ id: string }>('/v1/memory/store', '{"content":"The first text of the bench."}');
await untilProcessed();

report.heading('One subscriber');
report.figure('from commit to delivery', latency(await wave(1)));

const kept: number[] = [];
const took: number[] = [];
for (let number = 1; number <= waves; number += 1) {
  report.heading(`${subscribers} subscribers, wave ${number} of ${waves}`);
  const before = server.usage();
  const cpu = ownCpuSeconds();
  const deliveries = await wave(subscribers);
  took.push(...deliveries);
  report.figure(`${events} events, ${deliveries.length} deliveries`, latency(deliveries));
  report.figure('slowest delivery', `${Math.max(...deliveries).toFixed(0)} ms`);
  report.usage(before, server.usage(), ownCpuSeconds() - cpu);
  while ((await gauge('live_connections')) > 0) await delay(50);
  // Of closed sockets the collector frees the last a moment later.
  await delay(2_000);
  kept.push(server.usage().rssMegabytes);
  report.figure('after they have left', `${await gauge('live_connections')} connections, ${await gauge('live_subscriptions')} subscriptions, RSS ${kept.at(-1)} MB`);
}
report.target(`${subscribers} subscribers, p99 ≤ ${p99MaxMs} ms`, quantile(took, 0.99) <= p99MaxMs, `${quantile(took, 0.99).toFixed(0)} ms`);
report.target('nobody is left behind', (await gauge('live_connections')) === 0 && (await gauge('live_subscriptions')) === 0, '0 connections, 0 subscriptions');
report.target(`memory after the last wave ≤ ${keptMax} × after the first`, kept.at(-1)! <= kept[0]! * keptMax, kept.map((megabytes) => `${megabytes} MB`).join(', '));
await server.stop();
await ground.remove();
report.finish();

/** So many subscribe, every event is timed at each of them, all leave. Answers the milliseconds from commit to delivery. */
async function wave(count: number): Promise<number[]> {
  let arrived: number[] = [];
  const clients: Client[] = [];
  for (let first = 0; first < count; first += 100) {
    await Promise.all(Array.from({ length: Math.min(100, count - first) }, (_, index) => subscribe(clients, keys[(first + index) % keysCount]!, () => arrived.push(performance.now()))));
  }
  const milliseconds: number[] = [];
  for (let event = 0; event < events; event += 1) {
    arrived = [];
    await client.text('PATCH', `/v1/memory/${id}`, JSON.stringify({ content: `Text ${Math.random()} of the bench.` }));
    const committedAfter = await untilProcessed();
    const deadline = performance.now() + 10_000;
    while (arrived.length < count && performance.now() < deadline) await delay(1);
    if (arrived.length < count) throw new Error(`Of ${count} subscribers ${arrived.length} were told.`);
    milliseconds.push(...arrived.map((at) => Math.max(0, at - committedAfter)));
  }
  await Promise.all(clients.map((one) => one.dispose()));
  return milliseconds;
}

/** Resolves when the subscription stands: the object is processed, so its present state comes at once. */
async function subscribe(clients: Client[], key: string, onEvent: () => void): Promise<void> {
  const live = createClient({ url: `${server.url.replace('http', 'ws')}/graphql`, webSocketImpl: WebSocket, connectionParams: { authorization: `Bearer ${key}` }, retryAttempts: 0 });
  clients.push(live);
  let isStanding = false;
  await new Promise<void>((resolve, reject) => {
    live.subscribe(
      { query: 'subscription ($id: ID!) { memoryProcessed(id: $id) { id processing { embeddingStatus } workspace { id name } } }', variables: { id } },
      {
        next: ({ errors }) => {
          if (errors) reject(new Error(JSON.stringify(errors)));
          else if (isStanding) onEvent();
          isStanding = true;
          resolve();
        },
        error: reject,
        complete: () => {},
      },
    );
  });
}

/** Waits until the object is processed; answers the last moment at which it certainly was not committed yet. */
async function untilProcessed(): Promise<number> {
  for (let before = performance.now(); ; ) {
    const asked = performance.now();
    const { processing } = await client.get<{ processing: { embedding_status: string } }>(`/v1/memory/${id}`);
    if (processing.embedding_status === 'completed') return before;
    before = asked;
  }
}

async function gauge(name: string): Promise<number> {
  const text = await client.text('GET', '/metrics');
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
}
