import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { makeGround, startProduct, storeAll, untilEmbedded } from './harness.ts';
import type { HttpClient } from './harness.ts';
import { latency, ownCpuSeconds, quantile, Report } from './report.ts';
import { topicMemories } from './texts.ts';

// Claim: whoever reads does not notice that a backlog is being embedded. Baseline: the same reads before there is a backlog.
//   embedding-load.js [--objects 10000] [--assert]
const { values } = parseArgs({ options: { objects: { type: 'string', default: '10000' }, assert: { type: 'boolean', default: false } } });
const objects = Number(values.objects);
const readsPerSecond = 50;
const p95MaxMs = 25;

const report = new Report();
const ground = await makeGround();
const server = await startProduct(ground);
const [known] = await storeAll(server.client, topicMemories(1, 7));
await untilEmbedded(server.client, [known!]);

report.heading(`GET by id, ${readsPerSecond} a second`);
const fiveSeconds = performance.now() + 5_000;
const quiet = await readSteadily(server.client, () => performance.now() > fiveSeconds);
report.figure('without a backlog', latency(quiet));

const before = server.usage();
const cpuBefore = ownCpuSeconds();
const ids = await storeAll(server.client, topicMemories(objects, 8));
const startedAt = performance.now();
let isDone = false;
const reads = readSteadily(server.client, () => isDone);
await untilEmbedded(server.client, ids);
isDone = true;
const busy = await reads;
const seconds = (performance.now() - startedAt) / 1_000;
report.figure(`while ${ids.length} objects are embedded`, `${latency(busy)}, slowest ${Math.max(...busy).toFixed(0)} ms of ${busy.length}`);
report.figure('embedded', `${Math.round(ids.length / seconds)} objects/s beside the reads, ${seconds.toFixed(0)} s`);
report.usage(before, server.usage(), ownCpuSeconds() - cpuBefore);
const p95 = quantile(busy, 0.95);
report.target(`reads p95 ≤ ${p95MaxMs} ms under a backlog`, p95 <= p95MaxMs, `${p95.toFixed(1)} ms`);
await server.stop();
await ground.remove();
report.finish();

/** Reads at a fixed pace, whether or not the last one has been answered; each is timed from the moment it was due. */
async function readSteadily(client: HttpClient, isOver: () => boolean): Promise<number[]> {
  const took: number[] = [];
  const pending: Promise<unknown>[] = [];
  let dueAt = performance.now();
  while (!isOver()) {
    const due = dueAt;
    pending.push(client.text('GET', `/v1/memory/${known}`).then(() => took.push(performance.now() - due)));
    dueAt += 1_000 / readsPerSecond;
    await delay(Math.max(0, dueAt - performance.now()));
  }
  await Promise.all(pending);
  return took;
}
