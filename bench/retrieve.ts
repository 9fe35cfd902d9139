import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { makeGround, onLanes, startProduct, storeAll, untilEmbedded } from './harness.ts';
import type { Ground, HttpClient } from './harness.ts';
import { latency, ownCpuSeconds, quantile, Report } from './report.ts';
import { topicKeywords, topicMemories, topicQuestions } from './texts.ts';

// Claim: hybrid retrieval p95 within 50 ms at 100,000 objects, and semantic ranking true to an exact scan (recall@10 ≥ 0.97).
// Baseline: the exact scan itself, the same data and questions in a server whose approximate index is switched off.
//   retrieve.js [--objects 10000,100000] [--data DIR] [--assert]     DIR is kept; with it give one number of objects
const { values } = parseArgs({ options: { objects: { type: 'string', default: '10000,100000' }, data: { type: 'string' }, assert: { type: 'boolean', default: false } } });
const sizes = values.objects.split(',').map(Number);
if (values.data !== undefined && sizes.length > 1) throw new Error('--data holds one number of objects: give --objects one too.');

const hybridP95Ms = 50;
const recallMin = 0.97;
/** VECTOR_EXACT_MAX, and what the product logs when every passage of a larger workspace is in its index. */
const exactMax = 20_000;
const indexComplete = 'the approximate index is complete';
const questionsPerMode = 300;
const questionsForRecall = 100;

interface Found {
  readonly took_ms: number;
  readonly results: readonly { id: string; relevance_score: number }[];
}

const report = new Report();
for (const objects of sizes) {
  const ground = await makeGround(values.data);
  await prepare(ground, objects);
  await measure(ground, objects);
  await ground.remove();
}
report.finish();

/** How many passages the index held each time the product logged that it is complete: at least one for each object. */
function indexedPassages(logged: string): number[] {
  const lines = logged.split('\n').slice(0, -1).filter((line) => line.includes(indexComplete));
  return lines.map((line) => (JSON.parse(line) as { passages: number }).passages);
}

/** Stores and waits; a kept folder that is ready already is left as it is. */
async function prepare(ground: Ground, objects: number): Promise<void> {
  report.heading(`${objects} objects`);
  const ready = join(ground.dataDir, 'bench-ready.json');
  if (existsSync(ready)) {
    const { objects: held } = JSON.parse(await readFile(ready, 'utf8')) as { objects: number };
    if (held !== objects) throw new Error(`${ground.dataDir} holds ${held} objects, not ${objects}.`);
    return;
  }
  const server = await startProduct(ground, { env: { LOG_LEVEL: 'info' } });
  const startedAt = performance.now();
  const ids = await storeAll(server.client, topicMemories(objects, objects));
  report.figure('stored', `${ids.length} in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
  const embeddingSince = performance.now();
  await untilEmbedded(server.client, ids);
  const seconds = (performance.now() - embeddingSince) / 1_000;
  report.figure('embedded', `after ${seconds.toFixed(0)} s more, ${Math.round(ids.length / ((performance.now() - startedAt) / 1_000))}/s`);
  if (objects > exactMax) {
    while (!indexedPassages(server.logged()).some((passages) => passages >= objects)) await delay(500);
    report.figure('approximate index complete', `after ${((performance.now() - startedAt) / 1_000).toFixed(0)} s in all`);
  }
  await server.stop();
  await writeFile(ready, JSON.stringify({ objects }));
}

async function measure(ground: Ground, objects: number): Promise<void> {
  const server = await startProduct(ground);
  const before = server.usage();
  const cpuBefore = ownCpuSeconds();
  await ask(server.client, 'hybrid', topicQuestions(20, 1), 1);
  const questions = topicQuestions(questionsPerMode, 2);
  report.figure('keyword, 3 words', latency(await ask(server.client, 'keyword', topicKeywords(questionsPerMode, 3), 1)));
  report.figure('semantic', latency(await ask(server.client, 'semantic', questions, 1)));
  const hybrid = await ask(server.client, 'hybrid', questions, 1);
  report.figure('hybrid', latency(hybrid));
  report.figure('hybrid, 4 at a time', latency(await ask(server.client, 'hybrid', questions, 4)));
  report.usage(before, server.usage(), ownCpuSeconds() - cpuBefore);
  const p95 = quantile(hybrid, 0.95);
  report.target(`${objects} objects, hybrid p95 ≤ ${hybridP95Ms} ms`, p95 <= hybridP95Ms, `${p95.toFixed(1)} ms`);

  const asked = topicQuestions(questionsForRecall, 4);
  const approximate = await answersTo(server.client, asked);
  await server.stop();
  const { exact, took } = await exactAnswers(ground, asked);
  const recall = approximate.reduce((sum, found, index) => sum + recallOf(found, exact[index]!), 0) / asked.length;
  report.figure('exact scan, semantic', latency(took));
  report.target(`${objects} objects, recall@10 ≥ ${recallMin}`, recall >= recallMin, recall.toFixed(4));
}

/** The same questions to a server that compares every passage; on a copy, so that a kept folder stays as it is. */
async function exactAnswers(ground: Ground, asked: readonly string[]): Promise<{ exact: Found[]; took: number[] }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'quadrivium-bench-'));
  await cp(ground.dataDir, dataDir, { recursive: true });
  const server = await startProduct({ ...ground, dataDir }, { env: { VECTOR_EXACT_MAX: '10000000' } });
  await answersTo(server.client, asked.slice(0, 10));
  const took: number[] = [];
  const exact = await answersTo(server.client, asked, took);
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
  return { exact, took };
}

async function answersTo(client: HttpClient, questions: readonly string[], took: number[] = []): Promise<Found[]> {
  const answers: Found[] = [];
  for (const question of questions) {
    const startedAt = performance.now();
    answers.push(await client.get<Found>(`/v1/memory/retrieve?mode=semantic&limit=10&q=${encodeURIComponent(question)}`));
    took.push(performance.now() - startedAt);
  }
  return answers;
}

/** A result counts when it is as near as the tenth of the exact answer: of equals, either may be shown. */
function recallOf(found: Found, exact: Found): number {
  const tenth = exact.results.at(-1)!.relevance_score - 1e-6;
  return found.results.filter(({ relevance_score: score }) => score >= tenth).length / exact.results.length;
}

async function ask(client: HttpClient, mode: string, questions: readonly string[], lanes: number): Promise<number[]> {
  let next = 0;
  return onLanes(lanes, () => next >= questions.length, async () => {
    const question = encodeURIComponent(questions[next++]!);
    await client.text('GET', `/v1/memory/retrieve?mode=${mode}&${mode === 'keyword' ? 'keyword' : 'q'}=${question}`);
  });
}
