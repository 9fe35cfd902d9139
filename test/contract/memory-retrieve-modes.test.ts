import { beforeAll, expect } from 'vitest';
import { as } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually, whenProcessed } from '../harness/eventually.ts';
import { idsOf, query, retrieve, storeAll } from '../harness/memory.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { expectInvalid } from '../harness/shapes.ts';
import { uniqueWord } from '../harness/words.ts';

const server = sharedServer();
const client = as(server, 'read_write');
const category = uniqueWord();
const word = uniqueWord();

const texts = {
  refund: 'Customers may return purchased goods within thirty days and receive their money back.',
  leave: 'Employees accrue two and a half days of paid leave for every month worked.',
  outage: 'The database cluster in Frankfurt was unreachable for forty minutes after a failed switch of the primary node.',
  bread: 'Knead the dough for ten minutes, let it rise overnight and bake it in a hot oven.',
  orchestra: 'The violins enter softly before the brass section takes over the theme.',
  glacier: 'The ice field has lost a third of its volume since satellite measurements began.',
  hiring: 'Every candidate speaks with two future colleagues before an offer is made.',
};
type Topic = keyof typeof texts;
const topics = Object.keys(texts) as Topic[];
const idOf = new Map<string, string>();

beforeAll(async () => {
  const ids = await storeAll(client, topics.map((topic) => ({ content: `${texts[topic]} (${word})`, metadata: { category } })));
  topics.forEach((topic, index) => idOf.set(topic, ids[index]!));
  for (const id of ids) await whenProcessed(client, id);
});

const first = async (parameters: Record<string, string | number>) => (await retrieve(client, { category, ...parameters })).results[0]?.id;

clause('MEM-RETRIEVE-MODE-001', 'interface §4.1: neither q nor keyword is 400', async () => {
  expectInvalid(await client.get('/v1/memory/retrieve'), 'q');
  expectInvalid(await client.get(`/v1/memory/retrieve${query({ category })}`), 'q');
});

clause('MEM-RETRIEVE-MODE-002', 'interface §4.1: q alone searches by meaning; mode and query are echoed', async () => {
  const q = 'How do I get a refund for something I bought?';
  const answer = await retrieve(client, { q, category });
  expect(answer).toMatchObject({ mode: 'semantic', query: q });
  expect(answer.results[0]?.id).toBe(idOf.get('refund'));
});

clause('MEM-RETRIEVE-MODE-003', 'decisions §8: keyword alone means keyword; query is the keyword', async () => {
  const answer = await retrieve(client, { keyword: 'violins', category });
  expect(answer).toMatchObject({ mode: 'keyword', query: 'violins', total: 1, has_more: false, next_cursor: null });
  expect(idsOf(answer)).toEqual([idOf.get('orchestra')]);
});

clause('MEM-RETRIEVE-MODE-004', 'decisions §8: q and keyword without mode mean hybrid; query is q', async () => {
  const answer = await retrieve(client, { q: 'vacation entitlement', keyword: 'oven', category });
  expect(answer).toMatchObject({ mode: 'hybrid', query: 'vacation entitlement' });
  expect(idsOf(answer).slice(0, 3)).toEqual(expect.arrayContaining([idOf.get('leave'), idOf.get('bread')]));
});

clause('MEM-RETRIEVE-MODE-005', 'decisions §8: mode=semantic needs q', async () => {
  expectInvalid(await client.get(`/v1/memory/retrieve${query({ keyword: 'x', mode: 'semantic' })}`), 'q');
});

clause('MEM-RETRIEVE-MODE-006', 'decisions §8: mode=keyword uses keyword, else q', async () => {
  const byQ = await retrieve(client, { q: 'brass', mode: 'keyword', category });
  expect(byQ).toMatchObject({ mode: 'keyword', query: 'brass' });
  expect(idsOf(byQ)).toEqual([idOf.get('orchestra')]);
  const both = await retrieve(client, { q: 'brass', keyword: 'dough', mode: 'keyword', category });
  expect(both).toMatchObject({ mode: 'keyword', query: 'brass' });
  expect(idsOf(both)).toEqual([idOf.get('bread')]);
});

clause('MEM-RETRIEVE-MODE-007', 'interface §4.1: mode=hybrid works with q alone and with keyword alone', async () => {
  for (const parameters of [{ q: 'Frankfurt' }, { keyword: 'Frankfurt' }]) {
    const answer = await retrieve(client, { ...parameters, mode: 'hybrid', category });
    expect(answer).toMatchObject({ mode: 'hybrid', query: 'Frankfurt' });
    expect(answer.results[0]?.id).toBe(idOf.get('outage'));
  }
});

clause('MEM-RETRIEVE-MODE-008', 'interface §4.1: an unknown mode is 400 naming it', async () => {
  for (const mode of ['fuzzy', 'SEMANTIC', '']) expectInvalid(await client.get(`/v1/memory/retrieve${query({ q: 'x', mode })}`), 'mode');
});

clause('MEM-RETRIEVE-MODE-009', 'decisions §8: q searches by meaning, without a word in common', async () => {
  const questions: readonly (readonly [Topic, string])[] = [
    ['leave', 'How many vacation entitlements does the staff get?'],
    ['outage', 'What caused the downtime of our servers in Germany?'],
    ['bread', 'recipe for a loaf'],
    ['orchestra', 'symphony music performance'],
    ['glacier', 'effects of global warming'],
    ['hiring', 'What does the job interview process look like?'],
  ];
  for (const [topic, q] of questions) {
    expect(await first({ q }), q).toBe(idOf.get(topic));
    expect(await first({ q, mode: 'hybrid' }), `${q} (hybrid)`).toBe(idOf.get(topic));
  }
});

clause('MEM-RETRIEVE-MODE-010', 'interface §2.1: keyword search finds only what has a word of the query', async () => {
  const answer = await retrieve(client, { keyword: uniqueWord(), category });
  expect(answer).toMatchObject({ total: 0, results: [], has_more: false, next_cursor: null });
});

clause('MEM-RETRIEVE-MODE-011', 'decisions §8: several words: objects with all of them first, then with fewer', async () => {
  const [a, b, c, own] = [uniqueWord(), uniqueWord(), uniqueWord(), uniqueWord()];
  const repeated = (text: string) => `${text} `.repeat(12);
  const contents = [`${repeated(a)} one`, `${repeated(b)} two`, `${repeated(`${a} ${b}`)} three`, `A long text mentions ${a} here, and much later, after many other words about the weather, also ${b}, and finally ${c}.`];
  const [onlyA, onlyB, aAndB, all] = await storeAll(client, contents.map((content) => ({ content, metadata: { category: own } })));
  const found = await eventually(async () => {
    const answer = await retrieve(client, { keyword: `${a} ${b} ${c}`, category: own });
    expect(answer.total).toBe(4);
    return answer;
  });
  expect(idsOf(found).slice(0, 2)).toEqual([all, aAndB]);
  expect(idsOf(found).slice(2).sort()).toEqual([onlyA, onlyB].sort());
});

clause('MEM-RETRIEVE-MODE-012', 'decisions §8: an exact phrase in quotes finds its words side by side and in order only', async () => {
  const [a, b, own] = [uniqueWord(), uniqueWord(), uniqueWord()];
  const [adjacent] = await storeAll(client, [`The ${a} ${b} stands.`, `The ${b} ${a} stands.`, `The ${a} is far from the ${b}.`].map((content) => ({ content, metadata: { category: own } })));
  await eventually(async () => expect((await retrieve(client, { keyword: `${a} ${b}`, category: own })).total).toBe(3));
  const answer = await retrieve(client, { keyword: `"${a} ${b}"`, category: own });
  expect(idsOf(answer)).toEqual([adjacent]);
  expect(answer.total).toBe(1);
});

clause('MEM-RETRIEVE-MODE-013', 'interface §2.1: a result item shows the object\'s own content, metadata and created_at', async () => {
  const own = uniqueWord();
  const stored = await client.post('/v1/memory/store', { content: `Whole ${own}`, metadata: { category: own, nested: { camelCase: [1] } } });
  const { id, created_at } = stored.body as { id: string; created_at: string };
  await eventually(async () => {
    const { results } = await retrieve(client, { keyword: own });
    expect(results).toEqual([expect.objectContaining({ id, created_at, content: `Whole ${own}`, metadata: { category: own, nested: { camelCase: [1] } } })]);
  });
});

clause('MEM-RETRIEVE-SCORE-001', 'decisions §8: min_relevance leaves out what is below it, in every mode', async () => {
  for (const mode of ['semantic', 'keyword', 'hybrid']) {
    const parameters = { q: `refund money ${word}`, mode, category, limit: 100 };
    const { results } = await retrieve(client, parameters);
    expect(results.length, mode).toBeGreaterThan(1);
    // In the middle of the widest gap: other tests store into the same vault meanwhile, which moves its statistics a little.
    const gaps = results.slice(1).map(({ relevance_score: score }, index) => results[index]!.relevance_score - score);
    const widest = gaps.indexOf(Math.max(...gaps));
    const threshold = results[widest]!.relevance_score - gaps[widest]! / 2;
    const above = await retrieve(client, { ...parameters, min_relevance: threshold });
    expect(idsOf(above), mode).toEqual(results.slice(0, widest + 1).map((item) => item.id));
    expect((await retrieve(client, { ...parameters, min_relevance: 0 })).results.length, mode).toBe(results.length);
  }
  // Likeness of meaning does not depend on what else is stored, so its bound can be met exactly.
  const alike = { q: `refund money ${word}`, mode: 'semantic', category };
  const [best] = (await retrieve(client, alike)).results;
  expect(idsOf(await retrieve(client, { ...alike, min_relevance: best!.relevance_score }))[0]).toBe(best!.id);
});

clause('MEM-RETRIEVE-SCORE-002', 'interface §8: min_relevance outside 0.0 to 1.0 or no number is 400 naming it', async () => {
  for (const value of ['-0.1', '1.01', 'high', 'NaN', 'Infinity']) {
    expectInvalid(await client.get(`/v1/memory/retrieve${query({ q: 'x', min_relevance: value })}`), 'min_relevance');
  }
  expect((await client.get(`/v1/memory/retrieve${query({ q: 'x', min_relevance: '1.0' })}`)).status).toBe(200);
});

clause('MEM-RETRIEVE-SCORE-003', 'decisions §8: relevance separates what answers the question from what does not', async () => {
  const { results } = await retrieve(client, { q: texts.bread, category, limit: 100 });
  expect(results[0]).toMatchObject({ id: idOf.get('bread') });
  expect(results.at(-1)!.relevance_score).toBeLessThan(results[0]!.relevance_score);
});

clause('MEM-RETRIEVE-QUERY-001', 'interface §4.1: any text may be asked for: operators, quotes, emoji and very long questions are only words', async () => {
  for (const text of ['"', '""', "'; drop table object; --", 'a & b | !c <-> d:*', '( ) { } [ ] \\ / * ? ~ ^', '%', '👩‍🚀 東京', 'AND OR NOT', '-', '...', 'word '.repeat(400), '"unclosed phrase', 'NULL', '\u0000', '\ud800'.toWellFormed()]) {
    for (const mode of ['semantic', 'keyword', 'hybrid']) {
      const { status } = await client.get(`/v1/memory/retrieve${query({ q: text, mode })}`);
      expect([200, 400], `${mode} ${text.slice(0, 40)}`).toContain(status);
    }
  }
});
