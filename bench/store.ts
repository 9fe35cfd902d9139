import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { printProfiles, profileMoment } from './cpu-profile.ts';
import { makeGround, onLanes, startBare, startProduct } from './harness.ts';
import type { BatchAnswer, Ground, HttpClient, Server } from './harness.ts';
import { cpuBetween } from './process-usage.ts';
import { latency, median, ownCpuSeconds, Report } from './report.ts';
import { zipfElements } from './texts.ts';

// Claim: 5,000 objects a second and node in batches of 100, 2,000 a second one by one, in a memory that does not grow with
// what is stored (judged from two minutes on: --seconds 300). Baseline: the same rows through the same insert behind a bare
// Fastify handler.
//   store.js [--seconds 60] [--single-seconds 20] [--profile] [--assert]
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    'single-seconds': { type: 'string', default: '20' },
    profile: { type: 'boolean', default: false },
    assert: { type: 'boolean', default: false },
  },
});
const batchSeconds = Number(values.seconds);
const singleSeconds = Number(values['single-seconds']);
const batchLanes = 4;
const singleLanes = 64;
const foundWithinMs = 2_000;
/** Merges of keyword segments and what V8 has not collected yet move RSS by some 150 MB around 1,100. */
const rssMegabytesMax = 1_600;
/** The first minute fills caches, heaps and the allocator's arenas; the last one may then take this many times its largest. */
const growthMax = 1.15;

const report = new Report();
const profileDir = values.profile ? await mkdtemp(join(tmpdir(), 'quadrivium-profile-')) : null;

const batches = await onNewServer('Batches of 100, 4 connections', 'batch', storeBatches);
const singles = await onNewServer('Single stores, 64 connections', 'single', storeSingles);
const bare = await measureBare();

report.heading('Baseline');
if (profileDir !== null) report.figure('profiles, for DevTools', profileDir);
report.figure('bare handler, batches of 100', `${Math.round(bare)} objects/s; the product reaches ${(batches / bare).toFixed(2)} of it`);
report.target('batches, 5,000 objects/s', batches >= 5_000, `${Math.round(batches)}/s`);
report.target('single stores, 2,000/s', singles >= 2_000, `${Math.round(singles)}/s`);
report.finish();

async function onNewServer(title: string, name: string, run: (server: Server) => Promise<number>): Promise<number> {
  report.heading(title);
  const ground = await makeGround();
  const folder = profileDir === null ? null : join(profileDir, name);
  const server = await startProduct(ground, {
    connections: 128,
    nodeArguments: folder === null ? [] : ['--cpu-prof', '--cpu-prof-interval', '500', '--cpu-prof-dir', folder],
  });
  const since = profileMoment();
  try {
    return await run(server);
  } finally {
    await server.stop();
    await ground.remove();
    if (folder !== null) printProfiles(folder, since);
  }
}

async function storeBatches(server: Server): Promise<number> {
  const element = zipfElements(1);
  let acknowledged = 0;
  let failed = 0;
  const store = async (): Promise<void> => {
    const { stored, failed: refused } = await server.client.post<BatchAnswer>('/v1/memory/batch', batchOf(element));
    acknowledged += stored;
    failed += refused;
  };
  const { took, seconds } = await measured(server, batchSeconds, batchLanes, store, () => acknowledged, () => storeMarked(server.client, element).then((count) => (acknowledged += count)));
  const rate = acknowledged / seconds;
  report.figure('acknowledged', `${acknowledged} objects in ${seconds.toFixed(1)} s: ${Math.round(rate)}/s; ${failed} refused`);
  report.figure('a call', latency(took));

  const { stored } = await server.client.get<{ stored: number }>('/v1/memory/stats');
  report.target('nothing lost', stored === acknowledged && failed === 0, `${stored} stored, ${acknowledged} acknowledged, ${failed} refused`);
  return rate;
}

async function storeSingles(server: Server): Promise<number> {
  const element = zipfElements(2);
  let acknowledged = 0;
  const store = async (): Promise<void> => {
    await server.client.text('POST', '/v1/memory/store', element());
    acknowledged += 1;
  };
  const { took, seconds } = await measured(server, singleSeconds, singleLanes, store, () => acknowledged);
  report.figure('acknowledged', `${acknowledged} objects in ${seconds.toFixed(1)} s: ${Math.round(acknowledged / seconds)}/s`);
  report.figure('a call', latency(took));
  return acknowledged / seconds;
}

/** Load for so long; `inLastSecond` is called once, a second before the end, beside the load. */
async function measured(
  server: Server,
  seconds: number,
  lanes: number,
  call: () => Promise<void>,
  count: () => number,
  inLastSecond: () => Promise<unknown> = async () => {},
): Promise<{ took: number[]; seconds: number }> {
  const before = server.usage();
  const cpuBefore = ownCpuSeconds();
  const startedAt = performance.now();
  let isOver = false;
  const everySecond: number[] = [];
  const megabytes: number[] = [];
  let last = 0;
  const ticks = setInterval(() => {
    everySecond.push(count() - last);
    last = count();
    megabytes.push(server.usage().rssMegabytes);
    if (megabytes.length % 30 === 0) console.log(`  … ${megabytes.length} s: ${last} objects, RSS ${megabytes.at(-1)} MB`);
  }, 1_000);
  const load = onLanes(lanes, () => isOver, call);
  await delay((seconds - 1) * 1_000);
  const marked = inLastSecond();
  await delay(1_000);
  isOver = true;
  const took = await load;
  await marked;
  const elapsed = (performance.now() - startedAt) / 1_000;
  clearInterval(ticks);
  report.figure('each second', everySecond.join(' '));
  report.figure('slowest second, slowest call', `${Math.min(...everySecond)} objects, ${Math.max(...took).toFixed(0)} ms`);
  const after = server.usage();
  report.usage(before, after, ownCpuSeconds() - cpuBefore);
  report.figure('server CPU an object', `${Math.round(((after.cpuSeconds - before.cpuSeconds) / count()) * 1e6)} µs`);
  judgeMemory(megabytes);
  return { took, seconds: elapsed };
}

function judgeMemory(everySecond: readonly number[]): void {
  const largest = Math.max(...everySecond);
  report.target(`RSS ≤ ${rssMegabytesMax} MB`, largest <= rssMegabytesMax, `${largest} MB at most`);
  if (everySecond.length < 120) return;
  const first = Math.max(...everySecond.slice(0, 60));
  const last = median(everySecond.slice(-60));
  report.target(`RSS of the last minute ≤ ${growthMax} × the first`, last <= first * growthMax, `${first} MB, then ${last} MB`);
}

function batchOf(element: (marker?: string) => string, marker?: string): string {
  return `{"memories":[${Array.from({ length: 100 }, (_, index) => element(index === 0 ? marker : '')).join(',')}]}`;
}

/** Stores a batch whose first object holds a word that no other has, and times how long it takes until that word finds it, under load. */
async function storeMarked(client: HttpClient, element: (marker?: string) => string): Promise<number> {
  const { stored, results } = await client.post<BatchAnswer>('/v1/memory/batch', batchOf(element, 'zyxomarker '));
  const startedAt = performance.now();
  for (;;) {
    const found = await client.get<{ results: { id: string }[] }>('/v1/memory/retrieve?mode=keyword&keyword=zyxomarker');
    const waited = performance.now() - startedAt;
    if (found.results[0]?.id === results[0]!.id) {
      report.target('found by keyword within 2 s of its acknowledgement', waited <= foundWithinMs, `${Math.round(waited)} ms`);
      return stored;
    }
    if (waited > 60_000) {
      report.target('found by keyword within 2 s of its acknowledgement', false, 'not within a minute');
      return stored;
    }
    await delay(20);
  }
}

async function measureBare(): Promise<number> {
  report.heading('Bare handler, batches of 100, 4 connections');
  const prepared = await makeGround();
  // The product makes the tables, then leaves.
  await (await startProduct(prepared)).stop();
  const ground: Ground = { ...prepared, dataDir: await mkdtemp(join(tmpdir(), 'quadrivium-bench-')) };
  await cp(prepared.dataDir, ground.dataDir, { recursive: true });
  const server = await startBare(ground);
  const element = zipfElements(3);
  const before = server.usage();
  const startedAt = performance.now();
  const endsAt = startedAt + Math.min(20, batchSeconds) * 1_000;
  let stored = 0;
  const took = await onLanes(batchLanes, () => performance.now() >= endsAt, async () => {
    stored += (await server.client.post<BatchAnswer>('/v1/memory/batch', batchOf(element))).stored;
  });
  const rate = stored / ((performance.now() - startedAt) / 1_000);
  report.figure('acknowledged', `${stored} objects: ${Math.round(rate)}/s`);
  report.figure('a call', latency(took));
  report.figure('server CPU', cpuBetween(before, server.usage()).byThread);
  await server.stop();
  await rm(ground.dataDir, { recursive: true, force: true });
  await prepared.remove();
  return rate;
}
