import { readdirSync, readFileSync } from 'node:fs';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { createEmbedder } from '../../subgraphs/memory/ports/embedder/create-embedder.ts';
import type { MiniLmAnswer, MiniLmTask } from '../../subgraphs/memory/ports/embedder/minilm-worker.ts';
import { WorkerPool } from '../../subgraphs/memory/ports/embedder/worker-pool.ts';

const embedder = createEmbedder({ provider: 'minilm', threads: 2 });
afterAll(() => embedder.close());

const cosine = (a: Float32Array, b: Float32Array): number => a.reduce((sum, value, index) => sum + value * b[index]!, 0);

async function vectorOf(text: string): Promise<Float32Array> {
  const [passages] = await embedder.embedContents([text]);
  return passages![0]!.vector;
}

const SUBJECTS = ['The auditor', 'A ferry', 'Our supplier', 'The museum', 'Her colleague', 'The orchestra', 'A farmer'];
const VERBS = ['inspected', 'delayed', 'ordered', 'described', 'repaired', 'ignored', 'measured', 'sold', 'painted'];
const OBJECTS = ['the northern bridge', 'two wooden crates', 'a printed map', 'the autumn harvest', 'the old engine'];
const PLACES = ['near the station', 'in the valley', 'before the meeting', 'without any notice', 'during the storm'];

/** Sentences that differ, about nothing in particular. */
function english(length: number): string {
  let text = '';
  for (let n = 0; text.length < length; n += 1) {
    const pick = (words: string[], step: number): string => words[Math.floor(n / step) % words.length]!;
    text += `${pick(SUBJECTS, 1)} ${pick(VERBS, 3)} ${pick(OBJECTS, 2)} ${pick(PLACES, 7)}. `;
  }
  return text.slice(0, length);
}

describe('the bundled model', () => {
  it('puts paraphrases nearer than unrelated texts', async () => {
    const pairs = [
      ['How do I reset my password?', 'I forgot my login credentials and need new ones.'],
      ['The cat sat on the mat.', 'A kitten was resting on the rug.'],
      ['Quarterly revenue grew by ten percent.', 'Sales in the last three months rose a tenth.'],
      ['Deployments are frozen on Fridays.', 'We do not release software at the end of the week.'],
    ];
    const vectors = await Promise.all(pairs.map(([a, b]) => Promise.all([embedder.embedQuery(a!), vectorOf(b!)])));
    for (const [row, [query]] of vectors.entries()) {
      const scores = vectors.map(([, other]) => cosine(query, other));
      expect(scores.indexOf(Math.max(...scores))).toBe(row);
      expect(scores[row]).toBeGreaterThan(0.3);
    }
  });

  it('gives normalized vectors of its dimensions', async () => {
    for (const text of ['', 'a', 'The harbour is closed.', '漢字', '😀', 'x'.repeat(5_000)]) {
      const vector = await embedder.embedQuery(text);
      expect(vector).toHaveLength(embedder.dimensions);
      expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    }
  });

  it('gives a text the same vector, whatever it is embedded with', async () => {
    const texts = english(6_000).split(/(?<=\.) /);
    const first = await embedder.embedContents(texts);
    const second = await embedder.embedContents(texts.toReversed());
    expect(second.toReversed()).toEqual(first);
    expect(await embedder.embedQuery(texts[7]!)).toEqual(first[7]![0]!.vector);
  });

  it('answers each content with its own passages, none for a blank one', async () => {
    const contents = ['Short.', ' \n', english(3_000), ''];
    const [short, blank, long, empty] = await embedder.embedContents(contents);
    expect(short).toHaveLength(1);
    expect(blank).toEqual([]);
    expect(empty).toEqual([]);
    expect(long!.length).toBeGreaterThan(1);
    expect(contents[2]!.slice(long![0]!.start, long![0]!.end)).toMatch(/^The auditor inspected .*\.$/);
    expect(await embedder.embedContents([])).toEqual([]);
  });

  it('finds a fact at the end of 1 MB', { timeout: 90_000 }, async () => {
    const fact = 'The access code of the wine cellar is 7419.';
    const content = `${english(1_048_576 - fact.length - 1)} ${fact}`;
    const [[passages], query] = await Promise.all([
      embedder.embedContents([content]),
      embedder.embedQuery('What is the code for the wine cellar?'),
    ]);
    const nearest = passages!.toSorted((a, b) => cosine(query, b.vector) - cosine(query, a.vector))[0]!;
    expect(content.slice(nearest.start, nearest.end)).toContain(fact);
  });

  it('leaves the event loop free and answers queries at once while 500 texts are embedded', async () => {
    await embedder.embedQuery('Start the thread.');
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const before = performance.eventLoopUtilization();

    let done = false;
    const background = embedder.embedContents(Array.from({ length: 500 }, (_, n) => `${n}. ${english(800)}`));
    void background.finally(() => (done = true));
    const latencies: number[] = [];
    while (!done) {
      const from = performance.now();
      await embedder.embedQuery(`Who repaired engine number ${latencies.length}?`);
      latencies.push(performance.now() - from);
    }
    delay.disable();
    latencies.sort((a, b) => a - b);

    expect(await background).toHaveLength(500);
    expect(latencies.length).toBeGreaterThan(20);
    expect(latencies[Math.floor(latencies.length * 0.95)]).toBeLessThan(50);
    expect(delay.percentile(99) / 1e6).toBeLessThan(50);
    expect(performance.eventLoopUtilization(before).utilization).toBeLessThan(0.5);
  });

  it.runIf(process.platform === 'linux')('embeds at the lowest priority, except for queries', async () => {
    await Promise.all([embedder.embedQuery('one'), embedder.embedContents([english(20_000)])]);
    // The 19th field of stat; the second one is a name in parentheses.
    const niceness = readdirSync('/proc/self/task').map((task) => {
      const stat = readFileSync(`/proc/self/task/${task}/stat`, 'utf8');
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
    });
    expect(niceness.filter((nice) => nice === 19)).toHaveLength(2);
  });

  it('fails only the task that broke its thread', async () => {
    const script = new URL('../../subgraphs/memory/ports/embedder/minilm-worker', import.meta.url);
    const pool = new WorkerPool<MiniLmTask, MiniLmAnswer>({ script, threads: 1, priority: 'normal' });
    onTestFinished(() => pool.close());
    const broken = expect(pool.run({ kind: 'embed', passages: null as never })).rejects.toThrow('iterable');
    expect(await pool.run({ kind: 'query', text: 'next' })).toHaveLength(embedder.dimensions);
    await broken;
  });

  it('rejects what is under way when it is closed', async () => {
    const closing = createEmbedder({ provider: 'minilm', threads: 1 });
    await closing.embedContents(['Start the thread.']);
    const underWay = expect(closing.embedContents([english(200_000)])).rejects.toThrow('closed');
    await closing.close();
    await underWay;
    await expect(closing.embedQuery('late')).rejects.toThrow('closed');
  });
});
