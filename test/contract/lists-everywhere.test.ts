import { afterAll, beforeAll, expect } from 'vitest';
import { z } from 'zod';
import { as, type HttpClient } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually } from '../harness/eventually.ts';
import { query, storeAll } from '../harness/memory.ts';
import { type Server, startServer } from '../harness/server.ts';
import { expectBody, expectError, expectInvalid } from '../harness/shapes.ts';
import { newUser } from '../harness/users.ts';
import { createWebhook } from '../harness/webhooks.ts';
import { uniqueWord } from '../harness/words.ts';

const cursorTtlSeconds = 8;

/** A list of the register, and what decisions §5 says of its pages. */
interface List {
  readonly path: string;
  readonly byDefault: number;
  readonly max: number;
  /** A value for each of its filters, which some of its objects may have. */
  readonly filters: Readonly<Record<string, string>>;
}

let server: Server;
let admin: HttpClient;
let lists: List[] = [];

beforeAll(async () => {
  server = await startServer({ env: { CURSOR_TTL_SECONDS: `${cursorTtlSeconds}` } });
  admin = as(server, 'admin');
  await storeAll(admin, Array.from({ length: 60 }, () => ({ content: uniqueWord() })));
  for (let made = 0; made < 101; made += 1) expect((await admin.post('/v1/api-keys', { name: `Key ${made}`, level: 'read-only' })).status).toBe(201);
  for (let made = 0; made < 3; made += 1) await newUser(server, { role: 'viewer' });
  const webhooks = [];
  for (let made = 0; made < 5; made += 1) webhooks.push(await createWebhook(admin, { url: 'https://receiver.example' }, ['webhook.disabled']));
  const webhookId = webhooks[0]!.id;
  for (let made = 0; made < 5; made += 1) expect((await admin.post(`/v1/webhooks/${webhookId}/test`)).status).toBe(200);
  lists = await listsOf(webhookId);
  await eventually(async () => expect((await pageOf('/v1/memory', { limit: 1000 })).items.length).toBeGreaterThanOrEqual(60));
});
afterAll(() => server.stop());

const Parameter = z.looseObject({ name: z.string(), in: z.string() });
const Description = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), z.looseObject({ parameters: z.array(Parameter).default([]) }))) });

/** Every row that takes a cursor; the ranked search has rules of its own (memory-retrieve-paging.test.ts). */
async function listsOf(webhookId: string): Promise<List[]> {
  const samples: Readonly<Record<string, string>> = {
    workspace_id: server.credentials.workspaces.research,
    operation: 'createApiKey',
    outcome: 'succeeded',
    user_id: 'usr_unknown',
    subject_id: 'key_unknown',
    since: '2026-01-01T00:00:00Z',
    until: '2100-01-01T00:00:00Z',
    state: 'pending',
  };
  const { paths } = expectBody(await as(server, 'nobody').get('/openapi.json'), 200, Description);
  return Object.entries(paths).flatMap(([path, { get }]) => {
    const names = get?.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name) ?? [];
    if (!names.includes('cursor') || path === '/v1/memory/retrieve') return [];
    const filters = names.filter((name) => !['limit', 'cursor', 'before'].includes(name)).map((name) => [name, samples[name] ?? expect.fail(`no sample of ${name}`)]);
    const sizes = path === '/v1/memory' || path.endsWith('/deliveries') ? { byDefault: 50, max: 1000 } : { byDefault: 25, max: 100 };
    return [{ path: path.replace('{id}', webhookId), ...sizes, filters: Object.fromEntries(filters) as Record<string, string> }];
  });
}

const envelope = { next_cursor: z.string().nullable(), prev_cursor: z.string().nullable(), has_more: z.boolean(), approximate_total: z.int().min(0) };
const Item = z.looseObject({ id: z.string().optional(), user_id: z.string().nullish() });

interface Page extends z.output<z.ZodObject<typeof envelope>> {
  readonly items: readonly string[];
}

type Parameters = Readonly<Record<string, string | number>>;

async function pageOf(path: string, parameters: Parameters): Promise<Page> {
  const array = path === '/v1/memory' ? 'results' : 'data';
  const { [array]: found, ...rest } = expectBody(await admin.get(path + query(parameters)), 200, z.strictObject({ [array]: z.array(Item), ...envelope })) as unknown as Page & Record<string, z.output<typeof Item>[]>;
  return { ...rest, items: found!.map((item) => item.id ?? item.user_id!) };
}

async function everyPage(path: string, limit: number): Promise<Page[]> {
  const pages = [await pageOf(path, { limit })];
  for (let last = pages[0]!; last.has_more; last = pages.at(-1)!) pages.push(await pageOf(path, { limit, cursor: last.next_cursor! }));
  return pages;
}

clause('LISTS-001', 'decisions §5: next_cursor leads through every list to its end, each object once, every page but the last full', async () => {
  expect(lists.map(({ path }) => path.replace(/whk_\w+/, '{id}')).sort()).toEqual([
    '/v1/api-keys', '/v1/audit-log', '/v1/members', '/v1/memory', '/v1/webhooks', '/v1/webhooks/{id}/deliveries', '/v1/workspaces',
  ]);
  for (const { path, max } of lists) {
    const whole = (await everyPage(path, max)).flatMap(({ items }) => items);
    const limit = whole.length > 20 ? 9 : 1;
    const pages = await everyPage(path, limit);
    expect(pages.length, path).toBeGreaterThan(1);
    expect(pages.flatMap(({ items }) => items), path).toEqual(whole);
    expect(new Set(whole).size, path).toBe(whole.length);
    expect(pages.slice(0, -1).every(({ items, next_cursor: next }) => items.length === limit && next !== null), path).toBe(true);
    expect(pages.at(-1), path).toMatchObject({ has_more: false, next_cursor: null });
  }
});

clause('LISTS-002', 'decisions §5: before leads back through every list by prev_cursor, which is null on the first page', async () => {
  for (const { path, max } of lists) {
    const limit = (await pageOf(path, { limit: max })).items.length > 20 ? 9 : 1;
    const pages = await everyPage(path, limit);
    expect(pages[0]!.prev_cursor, path).toBeNull();
    let page = pages.at(-1)!;
    for (const expected of pages.slice(0, -1).reverse()) {
      page = await pageOf(path, { limit, before: page.prev_cursor! });
      expect(page.items, path).toEqual(expected.items);
      expect(page.has_more, path).toBe(true);
    }
    expect(page.prev_cursor, path).toBeNull();
  }
});

clause('LISTS-003', 'decisions §5: the default of every list and its largest page; more is clamped silently', async () => {
  for (const { path, byDefault, max } of lists) {
    const size = (await everyPage(path, max)).reduce((sum, { items }) => sum + items.length, 0);
    expect((await pageOf(path, {})).items, path).toHaveLength(Math.min(size, byDefault));
    for (const limit of [max, max + 1, 1_000_000]) expect((await pageOf(path, { limit })).items, `${path} limit=${limit}`).toHaveLength(Math.min(size, max));
  }
});

clause('LISTS-004', 'interface §8.2 rule 4: limit=0 of every list is empty and tells approximate_total', async () => {
  for (const { path } of lists) {
    const { items, approximate_total: total } = await pageOf(path, { limit: 0 });
    expect(items, path).toEqual([]);
    expect(total, path).toBeGreaterThan(0);
  }
});

clause('LISTS-005', 'decisions §5: a limit that is negative or no whole number is 400 at every list, and so are two cursors at once', async () => {
  for (const { path } of lists) {
    for (const limit of ['-1', '1.5', 'ten', '']) expectInvalid(await admin.get(path + query({ limit })), 'limit');
    const { next_cursor: cursor } = await pageOf(path, { limit: 1 });
    expectInvalid(await admin.get(path + query({ cursor: cursor!, before: cursor! })), 'before');
  }
});

clause('LISTS-006', 'decisions §5: a cursor of another list, other filters or another tenant, or an altered one, is 400 invalid_cursor at every list', async () => {
  const other = as(server, 'other_admin');
  for (const { path, filters } of lists) {
    const cursorHere = async (): Promise<string> => (await pageOf(path, { limit: 1 })).next_cursor!;
    for (const name of ['cursor', 'before']) {
      for (const elsewhere of lists.filter((list) => list.path !== path)) {
        expectError(await admin.get(elsewhere.path + query({ [name]: await cursorHere() })), 400, 'invalid_cursor');
      }
      for (const [filter, value] of Object.entries(filters)) {
        expectError(await admin.get(path + query({ [name]: await cursorHere(), [filter]: value })), 400, 'invalid_cursor');
      }
      if (!path.includes('whk_')) expectError(await other.get(path + query({ [name]: await cursorHere() })), 400, 'invalid_cursor');
      const cursor = await cursorHere();
      for (const wrong of ['x', cursor.slice(1), `${cursor}A${cursor}`, cursor.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))]) {
        expectError(await admin.get(path + query({ [name]: wrong })), 400, 'invalid_cursor');
      }
    }
  }
});

clause('LISTS-007', 'interface §8.2 rule 1: a cursor past its time is 400 cursor_expired at every list', async () => {
  const cursors = await Promise.all(lists.map(async ({ path }) => ({ path, cursor: (await pageOf(path, { limit: 1 })).next_cursor! })));
  for (const { path, cursor } of cursors) {
    for (const name of ['cursor', 'before']) {
      await eventually(async () => expectError(await admin.get(path + query({ [name]: cursor })), 400, 'cursor_expired'), 3 * cursorTtlSeconds * 1000);
    }
  }
});
