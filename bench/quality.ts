import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeGround, startProduct, storeAll, untilEmbedded } from './harness.ts';
import type { HttpClient } from './harness.ts';
import { latency, Report } from './report.ts';

// Claim: retrieval finds what people judged relevant. Measured on any collection in BEIR's layout; baseline: published figures
// for SciFact. nDCG as trec_eval computes it (linear gains: judgment / log2(rank + 1)), recall at 100.
//   quality.js <folder> [--k 10] [--assert]
const { values, positionals } = parseArgs({ allowPositionals: true, options: { k: { type: 'string', default: '10' }, assert: { type: 'boolean', default: false } } });
const [folder] = positionals;
if (folder === undefined) throw new Error('Which collection? quality.js <folder with corpus.jsonl, queries.test.jsonl, qrels.test.tsv>');
const k = Number(values.k);
const retrieved = 100;
const modes = ['keyword', 'semantic', 'hybrid'] as const;
const wanted = { keyword: 0.66, semantic: 0.64, hybrid: 0.7 };
const published = { keyword: 'BM25 .679', semantic: 'all-MiniLM-L6-v2 .645', hybrid: 'BM25 + bge-base by RRF .742' };

type Judgments = Map<string, Map<string, number>>;

const report = new Report();
const corpus = await jsonLines<{ _id: string; title: string; text: string }>('corpus.jsonl');
const queries = await jsonLines<{ _id: string; text: string }>('queries.test.jsonl');
const judgments = await readJudgments('qrels.test.tsv');

const ground = await makeGround();
const server = await startProduct(ground);
report.heading(`${corpus.length} documents, ${queries.length} queries`);
const startedAt = performance.now();
const ids = await storeAll(server.client, corpus.map(({ _id, title, text }) => ({ content: `${title} ${text}`.trim(), metadata: { source: _id } })));
report.figure('stored', `${ids.length} (the rest repeats another document's text)`);
await untilEmbedded(server.client, ids);
report.figure('ready for search', `after ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`);

for (const mode of modes) {
  const { ndcg, recall, refused, took } = await evaluate(server.client, mode);
  report.figure(mode, `nDCG@${k} ${ndcg.toFixed(4)}, recall@${retrieved} ${recall.toFixed(4)}; ${refused} refused; ${latency(took)}; published for SciFact: ${published[mode]}`);
  report.target(`${mode} nDCG@${k} ≥ ${wanted[mode]}`, ndcg >= wanted[mode], ndcg.toFixed(4));
}
await server.stop();
await ground.remove();
report.finish();

/** A query that the API refuses counts as one that found nothing. */
async function evaluate(client: HttpClient, mode: (typeof modes)[number]): Promise<{ ndcg: number; recall: number; refused: number; took: number[] }> {
  const judged = queries.filter(({ _id }) => judgments.has(_id));
  const took: number[] = [];
  let ndcg = 0;
  let recall = 0;
  let refused = 0;
  for (const { _id, text } of judged) {
    const since = performance.now();
    const { status, text: answer } = await client.answer('GET', `/v1/memory/retrieve?mode=${mode}&limit=${retrieved}&q=${encodeURIComponent(text)}`);
    took.push(performance.now() - since);
    if (status !== 200) {
      refused += 1;
      console.log(`  refused (${status}): ${text.slice(0, 80)}: ${answer.slice(0, 200)}`);
      continue;
    }
    const { results } = JSON.parse(answer) as { results: { metadata: { source: string } }[] };
    const ranking = results.map(({ metadata }) => metadata.source);
    ndcg += ndcgOf(ranking, judgments.get(_id)!);
    recall += recallOf(ranking, judgments.get(_id)!);
  }
  return { ndcg: ndcg / judged.length, recall: recall / judged.length, refused, took };
}

function ndcgOf(ranking: readonly string[], relevant: ReadonlyMap<string, number>): number {
  const gains = ranking.map((id) => relevant.get(id) ?? 0);
  const ideal = [...relevant.values()].sort((a, b) => b - a);
  return discounted(gains) / discounted(ideal);
}

function discounted(gains: readonly number[]): number {
  return gains.slice(0, k).reduce((sum, gain, index) => sum + gain / Math.log2(index + 2), 0);
}

function recallOf(ranking: readonly string[], relevant: ReadonlyMap<string, number>): number {
  return ranking.filter((id) => relevant.has(id)).length / relevant.size;
}

async function jsonLines<T>(name: string): Promise<T[]> {
  const text = await readFile(join(folder!, name), 'utf8');
  return text.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as T);
}

/** Query → document → judgment; documents judged 0 are not relevant. */
async function readJudgments(name: string): Promise<Judgments> {
  const found: Judgments = new Map();
  const [, ...lines] = (await readFile(join(folder!, name), 'utf8')).trim().split('\n');
  for (const line of lines) {
    const [query, document, score] = line.split('\t') as [string, string, string];
    if (Number(score) <= 0) continue;
    if (!found.has(query)) found.set(query, new Map());
    found.get(query)!.set(document, Number(score));
  }
  return found;
}
