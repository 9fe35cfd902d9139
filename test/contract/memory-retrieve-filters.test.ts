import { beforeAll, expect } from 'vitest';
import { as } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually, whenProcessed } from '../harness/eventually.ts';
import { idsOf, query, retrieve, store, storeAll } from '../harness/memory.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { expectInvalid, type StoreReceipt } from '../harness/shapes.ts';
import { uniqueWord } from '../harness/words.ts';

const server = sharedServer();
const client = as(server, 'read_write');
const word = uniqueWord();
const [red, blue, sales, legal, urgent, draft, eu] = Array.from({ length: 7 }, () => uniqueWord());

/** name → metadata; every object holds the word. */
const corpus = {
  a: { category: red, department: sales, tags: [urgent, eu] },
  b: { category: red, department: legal, tags: [urgent] },
  c: { category: blue, department: sales, tags: [draft, eu, urgent] },
  d: { category: blue, department: legal, tags: [] },
  e: {},
};
const names = Object.keys(corpus) as (keyof typeof corpus)[];
const nameOf = new Map<string, string>();

beforeAll(async () => {
  const ids = await storeAll(client, names.map((name) => ({ content: `Object ${name} holds ${word}.`, metadata: corpus[name] })));
  ids.forEach((id, index) => nameOf.set(id, names[index]!));
  for (const id of ids) await whenProcessed(client, id);
  await eventually(async () => expect((await retrieve(client, { keyword: word })).total).toBe(names.length));
});

async function expectFound(filters: Record<string, string>, expected: string): Promise<void> {
  for (const mode of ['keyword', 'semantic', 'hybrid']) {
    const answer = await retrieve(client, { q: word, mode, limit: 100, ...filters });
    const found = idsOf(answer).map((id) => nameOf.get(id)).sort().join('');
    expect(found, `${mode} ${JSON.stringify(filters)}`).toBe(expected);
    if (mode === 'keyword') expect(answer.total).toBe(expected.length);
  }
}

clause('MEM-RETRIEVE-FILTER-001', 'interface §4.1: category filters on metadata.category, in every mode', async () => {
  await expectFound({ category: red! }, 'ab');
  await expectFound({ category: blue! }, 'cd');
  await expectFound({ category: uniqueWord() }, '');
});

clause('MEM-RETRIEVE-FILTER-002', 'interface §4.1: department filters on metadata.department', async () => {
  await expectFound({ department: sales! }, 'ac');
});

clause('MEM-RETRIEVE-FILTER-003', 'interface §4.1: tags are comma-separated with AND logic', async () => {
  await expectFound({ tags: urgent! }, 'abc');
  await expectFound({ tags: `${urgent},${eu}` }, 'ac');
  await expectFound({ tags: `${eu},${draft},${urgent}` }, 'c');
  await expectFound({ tags: `${urgent},${uniqueWord()}` }, '');
});

clause('MEM-RETRIEVE-FILTER-004', 'interface §4.1: filters combine', async () => {
  await expectFound({ category: red!, department: sales!, tags: urgent! }, 'a');
  await expectFound({ category: red!, tags: draft! }, '');
});

clause('MEM-RETRIEVE-FILTER-005', 'interface §4.1: a filter is the exact label, not a part or a pattern of it', async () => {
  await expectFound({ category: red!.slice(0, -1) }, '');
  await expectFound({ category: `${red!.slice(0, -1)}%` }, '');
  await expectFound({ category: `${red}'` }, '');
  await expectFound({ tags: `${urgent!.slice(0, -1)}_` }, '');
});

clause('MEM-RETRIEVE-FILTER-006', 'interface §4.1: labels with spaces, quotes and other letters filter too', async () => {
  const category = `Größe "A" & 'B' 100% ${uniqueWord()}`;
  const own = uniqueWord();
  const { id } = await store(client, { content: `Label ${own}`, metadata: { category, tags: ['zwei Wörter', `q"${own}`] } });
  await eventually(async () => expect(idsOf(await retrieve(client, { keyword: own, category, tags: `zwei Wörter,q"${own}` }))).toEqual([id]));
});

clause('MEM-RETRIEVE-FILTER-007', 'decisions §8: created_after and created_before are exclusive', async () => {
  const own = uniqueWord();
  const stored: StoreReceipt[] = [];
  for (const index of [1, 2, 3]) stored.push(await store(client, { content: `Time ${own} ${index}` }));
  await eventually(async () => expect((await retrieve(client, { keyword: own })).total).toBe(3));
  for (const { created_at } of stored) {
    const millisecond = (by: number) => new Date(new Date(created_at).getTime() + by).toISOString();
    const found = async (filters: Record<string, string>) => idsOf(await retrieve(client, { keyword: own, ...filters })).sort();
    const idsWhere = (isIn: (time: number) => boolean) => stored.filter((object) => isIn(new Date(object.created_at).getTime())).map(({ id }) => id).sort();
    const at = new Date(created_at).getTime();
    expect(await found({ created_after: created_at }), `after ${created_at}`).toEqual(idsWhere((time) => time > at));
    expect(await found({ created_before: created_at }), `before ${created_at}`).toEqual(idsWhere((time) => time < at));
    expect(await found({ created_after: millisecond(-1), created_before: millisecond(1) })).toEqual(idsWhere((time) => time === at));
  }
});

clause('MEM-RETRIEVE-FILTER-008', 'interface §4.1: datetimes are ISO 8601, with an offset too', async () => {
  const own = uniqueWord();
  const { id } = await store(client, { content: `Offset ${own}` });
  await eventually(async () => expect((await retrieve(client, { keyword: own })).total).toBe(1));
  const local = (time: number) => `${new Date(time + 5.5 * 3_600_000).toISOString().slice(0, 19)}+05:30`;
  expect(idsOf(await retrieve(client, { keyword: own, created_after: local(Date.now() - 60_000), created_before: local(Date.now() + 60_000) }))).toEqual([id]);
  expect((await retrieve(client, { keyword: own, created_after: local(Date.now() + 60_000) })).total).toBe(0);
});

clause('MEM-RETRIEVE-FILTER-009', 'decisions §4: a date that is none is 400 naming it', async () => {
  for (const name of ['created_after', 'created_before']) {
    for (const value of ['yesterday', '2026-13-01T00:00:00Z', '2026-02-30T00:00:00Z', '1700000000x', '']) {
      expectInvalid(await client.get(`/v1/memory/retrieve${query({ q: 'x', [name]: value })}`), name);
    }
  }
});

clause('MEM-RETRIEVE-FILTER-010', 'decisions §4: an unknown query parameter is 400 naming it, never ignored', async () => {
  for (const name of ['page', 'offset', 'Category', 'source', 'sort']) {
    expectInvalid(await client.get(`/v1/memory/retrieve${query({ q: 'x', [name]: '1' })}`), name);
  }
});

clause('MEM-RETRIEVE-FILTER-011', 'interface §4.1: workspace_id overrides the default workspace', async () => {
  const admin = as(server, 'admin');
  const { research } = server.credentials.workspaces;
  const own = uniqueWord();
  const here = await store(admin, { content: `Here ${own}` });
  const there = await store(admin, { content: `There ${own}`, workspace_id: research });
  await eventually(async () => expect(idsOf(await retrieve(admin, { keyword: own }))).toEqual([here.id]));
  await eventually(async () => expect(idsOf(await retrieve(admin, { keyword: own, workspace_id: research }))).toEqual([there.id]));
});
