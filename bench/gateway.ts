import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { printProfiles, profileMoment } from './cpu-profile.ts';
import { makeGround, onLanes, startBare, startProduct } from './harness.ts';
import type { Ground, HttpClient, Server } from './harness.ts';
import { measureSteps } from './pipeline-steps.ts';
import { cpuBetween } from './process-usage.ts';
import { latency, median, Report } from './report.ts';
import { zipfElements } from './texts.ts';

// Claim: REST, authentication, rate limits and the federated graph add at most 150 µs of CPU to a GET by id, and 80 µs without
// limits. Baseline: the same row by the same statement behind a bare Fastify handler, in a process of its own with a database
// of its own. Then each step of the pipeline alone.
//   gateway.js [--rounds 10] [--requests 10000] [--no-profile] [--assert]
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10' },
    requests: { type: 'string', default: '10000' },
    'no-profile': { type: 'boolean', default: false },
    assert: { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds);
const requests = Number(values.requests);
const lanes = 16;
const addedMicrosecondsMax: Readonly<Record<string, number>> = { 'with everything': 150, 'without rate limits': 80 };
/** V8 goes on compiling for some 40,000 requests; the longer path takes longer. */
const warmUpRounds = 4;

const report = new Report();
const ground = await makeGround();
const path = await prepareObject();
const wide = join(ground.dataDir, 'wide-limits.json');
await writeFile(wide, JSON.stringify({ token: { business: { read: 1e9, write: 1e9 } }, organization: { business: 1e9 } }));
const limited = { env: { RATE_LIMIT_PROFILE: 'guide', RATE_LIMIT_FILE: wide } };
const copy = await copyOf(ground);
await compare('with everything', await startProduct(ground, limited));
await compare('without rate limits', await startProduct(ground));
await rm(copy.dataDir, { recursive: true, force: true });
await measureSteps(report, ground, wide);
if (!values['no-profile']) await profile();
await ground.remove();
report.finish();

/** One object of 400 bytes, embedded, so that nothing is left to do in the background. */
async function prepareObject(): Promise<string> {
  const server = await startProduct(ground);
  const { id } = await server.client.post<{ id: string }>('/v1/memory/store', zipfElements(1)());
  const own = `/v1/memory/${id}`;
  while ((await server.client.get<{ processing: { embedding_status: string } }>(own)).processing.embedding_status !== 'completed') await delay(50);
  await server.stop();
  return own;
}

async function copyOf(original: Ground): Promise<Ground> {
  const dataDir = await mkdtemp(join(tmpdir(), 'quadrivium-bench-'));
  await cp(original.dataDir, dataDir, { recursive: true });
  return { ...original, dataDir };
}

/** Two servers and no third: each works on its own while it is idle. */
async function compare(what: string, product: Server): Promise<void> {
  const bare = await startBare(copy);
  const [productText, bareText] = await Promise.all([product.client.text('GET', path), bare.client.text('GET', path)]);
  report.heading(`GET by id ${what}, ${rounds} rounds of ${requests} requests each, ${lanes} at a time`);
  report.figure('answer', `product ${productText.length} bytes, bare ${bareText.length} bytes`);
  for (const server of [product, bare]) for (let index = 0; index < warmUpRounds; index += 1) await round(server);
  const idleMicroseconds = await idleLoad(product);
  const before = { product: product.usage(), bare: bare.usage() };
  const productRounds: Round[] = [];
  const bareRounds: Round[] = [];
  for (let index = 0; index < rounds; index += 1) {
    productRounds.push(await round(product));
    bareRounds.push(await round(bare));
  }
  const added = productRounds.map(({ microseconds }, index) => microseconds - bareRounds[index]!.microseconds);
  const productMedian = median(productRounds.map(({ microseconds }) => microseconds));
  const bareMedian = median(bareRounds.map(({ microseconds }) => microseconds));
  report.figure('product, CPU a request', `${productMedian.toFixed(0)} µs; ${latency(productRounds.flatMap(({ took }) => took))}`);
  report.figure('bare handler, CPU a request', `${bareMedian.toFixed(0)} µs; ${latency(bareRounds.flatMap(({ took }) => took))}`);
  report.figure('added, each round', added.map((microseconds) => microseconds.toFixed(0)).join(' '));
  report.figure('product, idle (jobs, timers)', `${idleMicroseconds.toFixed(0)} µs of CPU a millisecond; in the figures above`);
  report.figure('product by thread', cpuBetween(before.product, product.usage()).byThread);
  report.figure('bare by thread', cpuBetween(before.bare, bare.usage()).byThread);
  const most = addedMicrosecondsMax[what]!;
  report.target(`added ${what} ≤ ${most} µs of CPU a request`, median(added) <= most, `${median(added).toFixed(0)} µs`);
  await Promise.all([product.stop(), bare.stop()]);
}

interface Round {
  readonly microseconds: number;
  readonly took: number[];
}

async function round(server: Server): Promise<Round> {
  const before = await cpuMicroseconds(server.client);
  let sent = 0;
  const took = await onLanes(lanes, () => sent >= requests, async () => {
    sent += 1;
    await server.client.text('GET', path);
  });
  return { microseconds: ((await cpuMicroseconds(server.client)) - before) / took.length, took };
}

/** By the server's own clock of CPU time: /proc counts in hundredths of a second only. */
async function cpuMicroseconds(client: HttpClient): Promise<number> {
  return Number(/^process_cpu_seconds_total (\S+)/m.exec(await client.text('GET', '/metrics'))![1]) * 1e6;
}

async function idleLoad(server: Server): Promise<number> {
  const before = await cpuMicroseconds(server.client);
  const startedAt = performance.now();
  await delay(3_000);
  return ((await cpuMicroseconds(server.client)) - before) / (performance.now() - startedAt);
}

/** The product once more, sampled by V8: where the time of a request goes. */
async function profile(): Promise<void> {
  report.heading('Profile of the product');
  const folder = await mkdtemp(join(tmpdir(), 'quadrivium-profile-'));
  const server = await startProduct(ground, { ...limited, nodeArguments: ['--cpu-prof', '--cpu-prof-interval', '250', '--cpu-prof-dir', folder] });
  await round(server);
  const since = profileMoment();
  for (let index = 0; index < rounds; index += 1) await round(server);
  await server.stop();
  printProfiles(folder, since);
  report.figure('profiles, for DevTools', folder);
}
