import { afterAll, beforeAll, expect } from 'vitest';
import { as, type HttpClient } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually } from '../harness/eventually.ts';
import { list, query, retrieve, store, storeAll } from '../harness/memory.ts';
import { type Server, startServer } from '../harness/server.ts';
import { ApiKeyPage, expectBody, expectError, expectInvalid, type MemoryPage } from '../harness/shapes.ts';
import { uniqueWord } from '../harness/words.ts';

/** A server of its own: here exact numbers count, and one workspace is filled with 1,050 objects. */
let server: Server;
let client: HttpClient;
let admin: HttpClient;
const word = uniqueWord();
let stored: string[] = [];

beforeAll(async () => {
  server = await startServer();
  client = as(server, 'read_write');
  admin = as(server, 'admin');
  stored = await storeAll(client, Array.from({ length: 1_050 }, (_, index) => ({ content: `${word} ${index}` })));
  await eventually(async () => expect(idsOf(await list(client, { limit: 1000 }))).toEqual(expect.arrayContaining(stored.slice(-500))));
});
afterAll(() => server.stop());

const idsOf = (page: MemoryPage): string[] => page.results.map((item) => item.id);

async function everyPage(limit: number): Promise<MemoryPage[]> {
  const pages = [await list(client, { limit })];
  for (let last = pages[0]; last?.has_more; last = pages.at(-1)) pages.push(await list(client, { limit, cursor: last.next_cursor! }));
  return pages;
}

clause('PAGE-LIST-001', 'interface §4.1: GET /v1/memory answers results, next_cursor, has_more, approximate_total and prev_cursor', async () => {
  const page = await list(client, { limit: 2 });
  expect(page.results).toHaveLength(2);
  expect(page).toMatchObject({ has_more: true, prev_cursor: null, next_cursor: expect.any(String) });
});

clause('PAGE-LIST-002', 'decisions §5: the default of GET /v1/memory is 50', async () => {
  expect((await list(client)).results).toHaveLength(50);
});

clause('PAGE-LIST-003', 'decisions §5: a limit above 1000 is clamped silently', async () => {
  for (const limit of [1000, 1001, 5000, 1_000_000]) {
    const page = await list(client, { limit });
    expect(page.results, `limit=${limit}`).toHaveLength(1000);
    expect(page.has_more).toBe(true);
  }
});

clause('PAGE-LIST-004', 'decisions §5: the list is newest first', async () => {
  const times = (await list(client, { limit: 1000 })).results.map((item) => new Date(item.created_at).getTime());
  expect(times).toEqual(times.toSorted((a, b) => b - a));
});

clause('PAGE-LIST-005', 'interface §8.2: following next_cursor shows every object once and ends with has_more false', async () => {
  for (const limit of [97, 400, 1000]) {
    const pages = await everyPage(limit);
    const ids = pages.flatMap(idsOf);
    expect(new Set(ids).size, `limit=${limit}`).toBe(ids.length);
    expect(new Set(ids)).toEqual(new Set([...ids, ...stored]));
    expect(pages.at(-1)?.next_cursor ?? null).toBeNull();
    expect(pages.slice(0, -1).every((page) => page.results.length === limit)).toBe(true);
  }
});

clause('PAGE-LIST-006', 'interface §8.2 rule 4: limit=0 returns no results and the approximate_total', async () => {
  const page = await list(client, { limit: 0 });
  expect(page.results).toEqual([]);
  expect(page.approximate_total).toBeGreaterThan(0);
});

clause('PAGE-LIST-007', 'decisions §5: a negative limit or one that is no integer is 400 naming it', async () => {
  for (const limit of ['-1', '-1000', '1.5', 'ten', 'NaN', 'Infinity', '']) expectInvalid(await client.get(`/v1/memory${query({ limit })}`), 'limit');
});

clause('PAGE-LIST-008', 'decisions §5: before pages backwards from any cursor, newest first, and prev_cursor leads there', async () => {
  const pages = await everyPage(300);
  const [first, second, third] = pages.map(idsOf);
  expect(pages[1]?.prev_cursor).toEqual(expect.any(String));
  const backFromThird = await list(client, { limit: 300, before: pages[2]!.prev_cursor! });
  expect(idsOf(backFromThird)).toEqual(second);
  const backFromSecond = await list(client, { limit: 300, before: pages[1]!.prev_cursor! });
  expect(idsOf(backFromSecond)).toEqual(first);
  expect(backFromSecond.prev_cursor, 'null on the first page').toBeNull();
  // The cursor that led on to the third page lies between second and third.
  expect(idsOf(await list(client, { limit: 300, before: pages[1]!.next_cursor! }))).toEqual(second);
  expect(idsOf(await list(client, { limit: 10, before: pages[1]!.next_cursor! }))).toEqual(second?.slice(-10));
  expect(idsOf(await list(client, { limit: 300, cursor: backFromThird.next_cursor! })), 'forward again').toEqual(third);
});

clause('PAGE-LIST-009', 'decisions §5: a cursor lies between two objects: what is stored later does not shift the pages behind it', async () => {
  const first = await list(client, { limit: 10 });
  const expected = idsOf(await list(client, { limit: 10, cursor: first.next_cursor! }));
  const { id } = await store(client, { content: `Later ${uniqueWord()}` });
  await eventually(async () => expect(idsOf(await list(client, { limit: 1 }))).toEqual([id]));
  expect(idsOf(await list(client, { limit: 10, cursor: first.next_cursor! }))).toEqual(expected);
});

clause('PAGE-LIST-010', 'decisions §5: a cursor survives the deletion of the object beside it', async () => {
  const marker = await store(client, { content: `Beside ${uniqueWord()}` });
  const page = await eventually(async () => {
    const newest = await list(client, { limit: 1 });
    expect(idsOf(newest)).toEqual([marker.id]);
    return newest;
  });
  const behind = idsOf(await list(client, { limit: 5, cursor: page.next_cursor! }));
  expect((await client.delete(`/v1/memory/${marker.id}`)).status).toBe(200);
  expect(idsOf(await list(client, { limit: 5, cursor: page.next_cursor! }))).toEqual(behind);
});

clause('PAGE-LIST-011', 'interface §8.2: approximate_total is an integer that follows the number of objects', async () => {
  await eventually(async () => expect((await list(client, { limit: 1 })).approximate_total).toBeGreaterThanOrEqual(1_000));
});

clause('PAGE-LIST-012', 'decisions §4: unknown query parameters of a list are 400', async () => {
  for (const name of ['page', 'offset', 'after']) expectInvalid(await client.get(`/v1/memory${query({ [name]: '1' })}`), name);
});

clause('PAGE-CURSOR-001', 'decisions §5: a made-up, altered or foreign cursor is 400 invalid_cursor, for before too', async () => {
  const { next_cursor: cursor } = await list(client, { limit: 5 });
  const altered = `${cursor!.slice(0, 8)}${cursor!.charAt(8) === 'A' ? 'B' : 'A'}${cursor!.slice(9)}`;
  for (const name of ['cursor', 'before']) {
    for (const wrong of ['x', altered, cursor!.slice(1), `${cursor}${cursor}`, 'mem_unknown', 'bnVsbA==', '🙂']) {
      const answer = await client.get(`/v1/memory${query({ [name]: wrong })}`);
      expect(answer.status, `${name}=${wrong.slice(0, 40)}`).toBe(400);
      expectError(answer, 400, 'invalid_cursor');
    }
    expectError(await as(server, 'other_read_write').get(`/v1/memory${query({ [name]: cursor! })}`), 400, 'invalid_cursor');
    expectError(await admin.get(`/v1/api-keys${query({ [name]: cursor! })}`), 400, 'invalid_cursor');
  }
});

clause('PAGE-KEYS-001', 'decisions §5: every other list: data, default 25, above 100 clamped silently, limit=0 empty', async () => {
  for (let made = 0; made < 105; made += 1) {
    expect((await admin.post('/v1/api-keys', { name: `Key ${made}`, level: 'read-only' })).status).toBe(201);
  }
  const page = async (parameters: Record<string, string | number>) => expectBody(await admin.get(`/v1/api-keys${query(parameters)}`), 200, ApiKeyPage);
  await eventually(async () => expect((await page({ limit: 100 })).has_more).toBe(true));
  expect((await page({})).data).toHaveLength(25);
  for (const limit of [100, 101, 1000]) expect((await page({ limit })).data).toHaveLength(100);
  expect(await page({ limit: 0 })).toMatchObject({ data: [], approximate_total: expect.any(Number) });
  expectInvalid(await admin.get('/v1/api-keys?limit=-1'), 'limit');
  const first = await page({ limit: 60 });
  const second = await page({ limit: 60, cursor: first.next_cursor! });
  const ids = [...first.data, ...second.data].map((key) => key.id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBeGreaterThanOrEqual(105);
  expect((await page({ limit: 60, before: second.prev_cursor! })).data).toEqual(first.data);
  const names = ids.map((id) => [...first.data, ...second.data].find((key) => key.id === id)!.name).filter((name) => name.startsWith('Key '));
  expect(names, 'newest first').toEqual(Array.from({ length: 105 }, (_, index) => `Key ${104 - index}`));
});

clause('PAGE-EXPIRY-001', 'interface §8.2 rule 1: a stale cursor is 400 cursor_expired, in list and in search', async () => {
  await using own = await startServer({ env: { CURSOR_TTL_SECONDS: '1' } });
  const owner = as(own, 'read_write');
  const common = uniqueWord();
  await storeAll(owner, Array.from({ length: 6 }, (_, index) => ({ content: `${common} ${index}` })));
  await eventually(async () => {
    expect((await retrieve(owner, { keyword: common })).total).toBe(6);
    expect((await list(owner, { limit: 2 })).has_more).toBe(true);
  });
  const listed = await list(owner, { limit: 2 });
  const searched = await retrieve(owner, { keyword: common, limit: 2 });
  await eventually(async () => expectError(await owner.get(`/v1/memory${query({ limit: 2, cursor: listed.next_cursor! })}`), 400, 'cursor_expired'), 5_000);
  await eventually(async () => expectError(await owner.get(`/v1/memory${query({ limit: 2, before: listed.next_cursor! })}`), 400, 'cursor_expired'), 5_000);
  await eventually(async () => expectError(await owner.get(`/v1/memory/retrieve${query({ keyword: common, limit: 2, cursor: searched.next_cursor! })}`), 400, 'cursor_expired'), 5_000);
});
