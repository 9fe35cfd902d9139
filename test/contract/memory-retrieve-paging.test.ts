import { beforeAll, expect } from 'vitest';
import { as } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually, whenProcessed } from '../harness/eventually.ts';
import { idsOf, query, retrieve, retrievePages, store, storeAll } from '../harness/memory.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { expectError, expectInvalid } from '../harness/shapes.ts';
import { uniqueWord } from '../harness/words.ts';

const server = sharedServer();
const client = as(server, 'read_write');
const word = uniqueWord();
const category = uniqueWord();
const modes = ['keyword', 'semantic', 'hybrid'];
let ids: string[] = [];

beforeAll(async () => {
  ids = await storeAll(client, Array.from({ length: 25 }, (_, index) => ({ content: `${`${word} `.repeat(1 + (index % 4))} entry ${index}`, metadata: { category } })));
  for (const id of ids) await whenProcessed(client, id);
  await eventually(async () => expect((await retrieve(client, { keyword: word })).total).toBe(25));
});

const cursorOf = async (parameters: Record<string, string | number>): Promise<string> => (await retrieve(client, parameters)).next_cursor ?? expect.fail('no cursor');
const ask = (parameters: Record<string, string | number>, asker = client) => asker.get(`/v1/memory/retrieve${query(parameters)}`);

clause('MEM-RETRIEVE-PAGE-001', 'interface §8: limit is 10 by default and may be 1 to 100', async () => {
  expect((await retrieve(client, { keyword: word })).results).toHaveLength(10);
  expect((await retrieve(client, { keyword: word, limit: 1 })).results).toHaveLength(1);
  expect((await retrieve(client, { keyword: word, limit: 100 })).results).toHaveLength(25);
});

clause('MEM-RETRIEVE-PAGE-002', 'decisions §5: a limit outside 1 to 100 is 400, 0 too', async () => {
  for (const limit of ['0', '101', '-1', '1000', '1.5', 'ten', 'NaN', '1e9']) expectInvalid(await ask({ q: 'x', limit }), 'limit');
});

clause('MEM-RETRIEVE-PAGE-003', 'decisions §5: pages neither repeat nor skip, keep their order, and total is the same on every page', async () => {
  for (const mode of modes) {
    for (const limit of [1, 7, 10, 25]) {
      const pages = await retrievePages(client, { q: word, mode, category, limit });
      // Not compared with another search: what other tests store meanwhile changes how the workspace weighs words.
      expect(pages.flatMap(idsOf).sort(), `${mode} by ${limit}`).toEqual([...ids].sort());
      const scores = pages.flatMap((page) => page.results.map((result) => result.relevance_score));
      expect(scores, `${mode} by ${limit}`).toEqual(scores.toSorted((a, b) => b - a));
      expect(new Set(pages.map((page) => page.total)), mode).toEqual(new Set([25]));
      expect(pages.slice(0, -1).every((page) => page.results.length === limit)).toBe(true);
      expect(pages.at(-1)?.next_cursor).toBeNull();
      expect(pages).toHaveLength(Math.ceil(25 / limit));
    }
  }
});

clause('MEM-RETRIEVE-PAGE-004', 'decisions §5: what is stored or changed meanwhile neither shifts the pages nor hides what existed at the first', async () => {
  for (const mode of modes) {
    const [own, ownCategory] = [uniqueWord(), uniqueWord()];
    const existing = await storeAll(client, Array.from({ length: 12 }, (_, index) => ({ content: `${own} old ${index}`, metadata: { category: ownCategory } })));
    for (const id of existing) await whenProcessed(client, id);
    await eventually(async () => expect((await retrieve(client, { q: own, mode, category: ownCategory })).total).toBe(12));
    const pages = await retrievePages(client, { q: own, mode, category: ownCategory, limit: 3 }, async (page) => {
      const added = await store(client, { content: `${own} ${own} new ${page}`, metadata: { category: ownCategory } });
      await whenProcessed(client, added.id);
      for (const id of existing) expect((await client.patch(`/v1/memory/${id}`, { metadata: { seen: page } })).status).toBe(200);
    });
    const seen = pages.flatMap(idsOf);
    expect(new Set(seen).size, `${mode}: none twice`).toBe(seen.length);
    expect(seen, `${mode}: none skipped`).toEqual(expect.arrayContaining(existing));
    expect(new Set(pages.map((page) => page.total)), `${mode}: one total`).toEqual(new Set([12]));
  }
});

clause('MEM-RETRIEVE-PAGE-005', 'decisions §5: objects deleted meanwhile are not shown and make no other be skipped', async () => {
  const own = uniqueWord();
  const existing = await storeAll(client, Array.from({ length: 9 }, (_, index) => ({ content: `${own} nr ${index}` })));
  await eventually(async () => expect((await retrieve(client, { keyword: own })).total).toBe(9));
  const first = await retrieve(client, { keyword: own, limit: 3 });
  const rest = existing.filter((id) => !idsOf(first).includes(id));
  const gone = rest[0]!;
  expect((await client.delete(`/v1/memory/${gone}`)).status).toBe(200);
  const seen = [];
  for (let cursor = first.next_cursor; cursor !== null; ) {
    const page = await retrieve(client, { keyword: own, limit: 3, cursor });
    seen.push(...idsOf(page));
    cursor = page.next_cursor;
  }
  expect(seen.filter((id) => id !== gone).sort()).toEqual(rest.slice(1).sort());
  expect(seen).not.toContain(gone);
});

clause('MEM-RETRIEVE-CURSOR-001', 'decisions §5: a cursor with another query, mode or filter is 400 invalid_cursor', async () => {
  const cursor = await cursorOf({ q: word, mode: 'keyword', category, limit: 5 });
  for (const changed of [{ q: `${word} entry` }, { mode: 'hybrid' }, { category: 'other' }, { department: 'x' }, { tags: 'x' }, { min_relevance: '0.5' }, { created_after: '2020-01-01T00:00:00Z' }]) {
    const answer = await ask({ q: word, mode: 'keyword', category, limit: 5, cursor, ...changed });
    expect(answer.status, JSON.stringify(changed)).toBe(400);
    expectError(answer, 400, 'invalid_cursor');
  }
});

clause('MEM-RETRIEVE-CURSOR-002', 'decisions §5: a cursor of another tenant is 400 invalid_cursor', async () => {
  const cursor = await cursorOf({ keyword: word, limit: 5 });
  expectError(await ask({ keyword: word, limit: 5, cursor }, as(server, 'other_read_write')), 400, 'invalid_cursor');
});

clause('MEM-RETRIEVE-CURSOR-003', 'decisions §5: a cursor is bound to its endpoint', async () => {
  const cursor = await cursorOf({ keyword: word, limit: 5 });
  expectError(await client.get(`/v1/memory${query({ cursor, limit: 5 })}`), 400, 'invalid_cursor');
  const listed = await eventually(async () => (await client.get('/v1/memory?limit=1')).body as { next_cursor: string });
  expectError(await ask({ keyword: word, limit: 5, cursor: listed.next_cursor }), 400, 'invalid_cursor');
});

clause('MEM-RETRIEVE-CURSOR-004', 'decisions §5: a made-up or altered cursor is 400 invalid_cursor', async () => {
  const cursor = await cursorOf({ keyword: word, limit: 5 });
  const middle = Math.floor(cursor.length / 2);
  const altered = cursor.slice(0, middle) + (cursor.charAt(middle) === 'A' ? 'B' : 'A') + cursor.slice(middle + 1);
  for (const wrong of [altered, cursor.slice(0, -2), 'x', 'eyJhIjoxfQ', '🙂', "' or 1=1", 'x'.repeat(4000)]) {
    const answer = await ask({ keyword: word, limit: 5, cursor: wrong });
    expect(answer.status, wrong.slice(0, 60)).toBe(400);
    expectError(answer, 400, 'invalid_cursor');
  }
});

clause('MEM-RETRIEVE-CURSOR-005', 'decisions §5: a cursor is not bound to the limit', async () => {
  const whole = idsOf(await retrieve(client, { keyword: word, limit: 100 }));
  const cursor = await cursorOf({ keyword: word, limit: 5 });
  expect(idsOf(await retrieve(client, { keyword: word, limit: 100, cursor }))).toEqual(whole.slice(5));
});

clause('MEM-RETRIEVE-CURSOR-006', 'interface §8.2 rule 1: a cursor is opaque: it reveals neither query nor ids', async () => {
  const cursor = await cursorOf({ keyword: word, limit: 5 });
  const decoded = cursor + Buffer.from(cursor, 'base64url').toString('latin1');
  expect(decoded).not.toContain(word);
});
