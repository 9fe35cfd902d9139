import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '#platform/database/migrator.ts';
import { query } from '#platform/database/query.ts';
import { transaction } from '#platform/database/transaction.ts';
import type { Database } from '#platform/database/database.ts';
import type { Context } from '#platform/context.ts';
import { indexKeywordsHandler } from '../../subgraphs/memory/jobs/index-keywords-handler.ts';
import { memoryMigration } from '../../subgraphs/memory/migrations/0001-memory.ts';
import type { MemoryPorts } from '../../subgraphs/memory/ports/ports.ts';
import { PostgresKeywordIndex } from '../../subgraphs/memory/ports/postgres-keyword-index.ts';
import { noFilter, type RetrieveFilter } from '../../subgraphs/memory/queries/filter.ts';
import { keywordDocuments } from '../../subgraphs/memory/queries/keyword-documents.ts';
import { openTestDatabase } from '../platform/open-test-database.ts';

let database: Database;
const index = new PostgresKeywordIndex<RetrieveFilter>({ documents: keywordDocuments });

const em = () => database.orm.em.fork();

beforeAll(async () => {
  database = await openTestDatabase();
  await migrate(database, [memoryMigration]);
});
afterAll(async () => {
  await index.close();
  await database.close();
});

let workspaces = 0;

/** A workspace that holds these contents, a segment for each group, and searches it by content. */
async function workspace(...groups: (readonly string[])[]) {
  const workspaceId = `workspace-${++workspaces}`;
  const contentOf = new Map<number, string>();
  const add = async (contents: readonly string[]): Promise<void> => {
    const rows = await query<{ seq: number; content: string }>(
      em(),
      `insert into memory.object (id, organization_id, vault_id, workspace_id, content, content_hash, byte_size, metadata, created_at)
       select gen_random_uuid(), 'org', 'vault', $1, content, decode(md5(random()::text), 'hex'), 1, '{}', now() from unnest($2::text[]) with ordinality as stored(content, place) order by place
       returning seq, content`,
      [workspaceId, contents],
    );
    for (const { seq, content } of rows) contentOf.set(seq, content);
    await commit(await index.prepare(workspaceId, rows));
  };
  for (const group of groups) await add(group);
  const search = (text: string, { limit = 10, ranking = 'tiered' as 'tiered' | 'bm25', filter = noFilter } = {}) => index.search(em(), { workspaceId, text, filter, limit, ranking });
  return {
    workspaceId,
    add,
    search,
    find: async (text: string) => (await search(text)).hits.map(({ seq }) => contentOf.get(seq)),
    contentOf,
    remove: (content: string) => query(em(), `update memory.object set status = 'deleted' where workspace_id = $1 and content = $2`, [workspaceId, content]),
    merge: () => index.prepareMerge(em(), workspaceId),
    segments: async () => (await query<{ documents: number }>(em(), 'select documents from memory.keyword_segment where workspace_id = $1 order by id', [workspaceId])).map(({ documents }) => documents),
  };
}

const commit = (change: Parameters<typeof transaction<boolean>>[1]) => transaction(em(), change);

/** BM25 from its definition, as a share of what no document reaches. */
function naive(contents: readonly string[], text: string): number[] {
  const documents = contents.map((content) => content.split(' '));
  const average = documents.reduce((sum, { length }) => sum + length, 0) / documents.length;
  const words = [...new Set(text.split(' '))].map((word) => {
    const holding = documents.filter((document) => document.includes(word)).length;
    return { word, idf: Math.log(1 + (documents.length - holding + 0.5) / (holding + 0.5)) };
  });
  const bound = words.reduce((sum, { idf }) => sum + idf * 2.2, 0);
  return documents.map((document) => {
    const score = words.reduce((sum, { word, idf }) => {
      const frequency = document.filter((other) => other === word).length;
      return sum + (idf * frequency * 2.2) / (frequency + 1.2 * (0.25 + (0.75 * document.length) / average));
    }, 0);
    return score / bound;
  });
}

test('scores are BM25 over all segments of the workspace', async () => {
  const word = fc.constantFrom('xa', 'xb', 'xc', 'xd', 'xe', 'xf', 'xg');
  const text = (minLength: number, maxLength: number) => fc.array(word, { minLength, maxLength }).map((words) => words.join(' '));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(text(1, 30), { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 3 }), text(1, 4), async (groups, asked) => {
      const { search, contentOf } = await workspace(...groups);
      const { hits } = await search(asked, { limit: 100, ranking: 'bm25' });
      const expected = naive(groups.flat(), asked);
      const scores = new Map(hits.map(({ seq, score }) => [seq, score]));
      [...contentOf.keys()].forEach((seq, at) => expect(scores.get(seq) ?? 0).toBeCloseTo(expected[at]!, 6));
      expect(hits.map(({ score }) => score)).toEqual(hits.map(({ score }) => score).toSorted((a, b) => b - a));
    }),
    { numRuns: 25 },
  );
});

test('documents with all the words come first, then those with fewer; scores fall with rank, within 0..1', async () => {
  const all = `A long text about rivers ${'and many other things '.repeat(30)} mentions a lantern and, later, copper.`;
  const { find, search } = await workspace([`${'lantern '.repeat(20)}`, 'lantern copper '.repeat(10).trim(), all], ['nothing of it']);
  expect(await find('rivers lantern copper')).toEqual([all, 'lantern copper '.repeat(10).trim(), 'lantern '.repeat(20)]);
  const scores = (await search('rivers lantern copper')).hits.map(({ score }) => score);
  expect(scores).toEqual(scores.toSorted((a, b) => b - a));
  expect(scores.every((score) => score > 0 && score < 1)).toBe(true);
});

test('the exact word comes before its typos, both ways, and other forms are found', async () => {
  const { find } = await workspace(['recieve '.repeat(10), 'A rather longer text in which they receive a parcel on Monday'], ['He received it']);
  expect((await find('receive'))[0]).toMatch(/receive/);
  expect(await find('receive')).toHaveLength(3);
  expect((await find('recieve'))[0]).toMatch(/recieve/);
  expect(await find('rceive')).toEqual([expect.stringMatching(/receive a/)]);
});

test('a phrase is mandatory, in order and side by side', async () => {
  const { find } = await workspace(['Error: code 42 is here', 'code error 42', 'error 42 code', 'unrelated code'], ['the ERROR-CODE 42!']);
  expect((await find('"error code 42"')).sort()).toEqual(['Error: code 42 is here', 'the ERROR-CODE 42!']);
  expect(await find('unrelated "code error"')).toEqual(['code error 42']);
  expect(await find('"cöde error"')).toEqual(['code error 42']);
  expect(await find('"no such phrase"')).toEqual([]);
  expect(await find('"is here" code')).toEqual(['Error: code 42 is here']);
});

test('a rare identifier marks its documents as exact, its near-misses not', async () => {
  const { search, contentOf } = await workspace(['Ticket ERR-48213-X was filed', ...Array.from({ length: 20 }, (_, at) => `Ticket ERR-48213-Y and ERR-${at}-X ERR-48213-Z`)]);
  for (const text of ['ERR-48213-X', 'who filed the ticket err-48213-x?']) {
    for (const ranking of ['tiered', 'bm25'] as const) {
      const { hits } = await search(text, { ranking });
      expect(hits.filter(({ exact }) => exact).map(({ seq }) => contentOf.get(seq)), text).toEqual(['Ticket ERR-48213-X was filed']);
    }
  }
  const { hits } = await search(`ticket ${'and '.repeat(3)} err-48213-y x z 1 2 3 err-48213-x`, { ranking: 'bm25', limit: 1 });
  expect(hits.some(({ seq, exact }) => exact && contentOf.get(seq) === 'Ticket ERR-48213-X was filed')).toBe(true);
});

test('a single character of an unspaced script, and pairs of them', async () => {
  const { find } = await workspace(['これは猫です', '犬と猫', '京都東へ'], ['東京都']);
  expect((await find('猫')).sort()).toEqual(['これは猫です', '犬と猫']);
  expect((await find('東京'))[0]).toBe('東京都');
});

test('workspaces know nothing of each other', async () => {
  const one = await workspace(['shared word here', 'another text']);
  const before = (await one.search('shared word')).hits;
  await workspace(['shared word '.repeat(50)], ['shared word']);
  expect((await one.search('shared word')).hits).toEqual(before);
});

test('dead revisions are not found, the filter holds, and the page is filled in spite of them', async () => {
  const contents = Array.from({ length: 300 }, (_, at) => `${'grape '.repeat(300 - at)}number${at}`);
  const { search, remove, find, contentOf } = await workspace(contents);
  for (const content of contents.slice(0, 100)) await remove(content);
  const { hits } = await search('grape');
  expect(hits).toHaveLength(10);
  expect(hits.every(({ seq }) => !contents.slice(0, 100).includes(contentOf.get(seq)!))).toBe(true);
  expect((await search('grape', { limit: 1000 })).hits).toHaveLength(200);
  expect((await search('grape', { filter: { ...noFilter, category: 'none' } })).hits).toEqual([]);
  expect(await find('')).toEqual([]);
  expect(await find('!?')).toEqual([]);
});

test('a merge leaves every answer as it was, and drops the dead', async () => {
  const { workspaceId, search, merge, segments, remove, contentOf } = await workspace(['plum tart'], ['plum pie plum'], ['tart of plums'], ['old plum']);
  await remove('old plum');
  const before = await search('plum tart');
  expect(await segments()).toEqual([1, 1, 1, 1]);
  expect(await commit((await merge())!)).toBe(true);
  expect(await segments()).toEqual([3]);
  const after = await search('plum tart');
  expect(after.hits.map(({ seq }) => seq)).toEqual(before.hits.map(({ seq }) => seq));
  // As if the dead one had never been: the scores too are those of the three.
  expect(await (await workspace(['plum tart', 'plum pie plum', 'tart of plums'])).search('plum tart').then(({ hits }) => hits.map(({ score }) => score))).toEqual(after.hits.map(({ score }) => score));
  expect(contentOf.size).toBe(4);
  expect(await index.prepareMerge(em(), workspaceId)).toBeNull();
});

test('a run of the index job merges until nothing is left to merge', async () => {
  // Three segments of the second size, three of the first: the fourth of these makes a fourth of those.
  const groups = [...Array.from({ length: 3 }, () => 5_000), ...Array.from({ length: 3 }, () => 1_500)].map((words) => ['quince '.repeat(words)]);
  const { workspaceId, segments, find } = await workspace(...groups);
  const [{ id }] = (await query<{ id: string }>(
    em(),
    `insert into memory.object (id, organization_id, vault_id, workspace_id, content, content_hash, byte_size, metadata, created_at)
     values (gen_random_uuid(), 'org', 'vault', $1, $2, '\\x00', 1, '{}', now()) returning id`,
    [workspaceId, 'quince '.repeat(1_500)],
  )) as [{ id: string }];
  const ctx = { em: em(), ports: { keywords: index }, config: { meiliUrl: null } } as unknown as Context<MemoryPorts>;
  await indexKeywordsHandler.run(ctx, [{ ids: [id] }], (change) => transaction(em(), change));
  expect(await segments()).toEqual([7]);
  expect(await find('quince')).toHaveLength(7);
});

test('of two merges of the same segments one does nothing; a merge that fails changes nothing', async () => {
  const { merge, segments, find } = await workspace(['kiwi one'], ['kiwi two'], ['kiwi three'], ['kiwi four']);
  const [first, second, third] = [(await merge())!, (await merge())!, (await merge())!];
  const crash = transaction(em(), async (inner) => {
    await first(inner);
    throw new Error('crash before the commit');
  });
  await expect(crash).rejects.toThrow('crash');
  expect(await segments()).toEqual([1, 1, 1, 1]);
  expect(await commit(second)).toBe(true);
  expect(await commit(third)).toBe(false);
  expect(await segments()).toEqual([4]);
  expect(await find('kiwi')).toHaveLength(4);
});

test('a revision that was indexed twice is found once, and merged to one', async () => {
  const { workspaceId, contentOf, find, merge, segments } = await workspace(['mango one'], ['mango two']);
  for (let again = 0; again < 2; again++) await commit(await index.prepare(workspaceId, [...contentOf].map(([seq, content]) => ({ seq, content }))));
  expect(await find('mango')).toHaveLength(2);
  await commit((await merge())!);
  expect((await segments()).reduce((sum, documents) => sum + documents, 0)).toBe(2);
});

test('searches go on while segments are merged away under them', async () => {
  const { merge, find, add } = await workspace(['fig zero']);
  for (let round = 1; round <= 8; round++) {
    await add([`fig ${round}`]);
    const change = await merge();
    const [found] = await Promise.all([find('fig'), change ? commit(change) : null]);
    expect(found).toHaveLength(round + 1);
  }
});

test('segments larger than what is read of them at a time are merged whole', async () => {
  const words = (group: number): string[] => Array.from({ length: 150_000 }, (_, at) => `w${(((group * 150_000 + at) * 2_654_435_761) % 2 ** 32).toString(36)}`);
  const groups = [0, 1, 2, 3].map(words);
  const { workspaceId, merge, segments, search, contentOf } = await workspace(...groups.map((group) => [group.join(' ')]));
  const [smallest] = await query<{ bytes: number }>(em(), 'select min(octet_length(dictionary)) as bytes from memory.keyword_segment where workspace_id = $1', [workspaceId]);
  expect(smallest!.bytes).toBeGreaterThan(2 ** 20);
  expect(await commit((await merge())!)).toBe(true);
  expect(await segments()).toEqual([4]);
  const seqs = [...contentOf.keys()];
  for (const [at, group] of groups.entries()) {
    for (const word of [group[0]!, group[75_000]!, group.at(-1)!]) expect((await search(`"${word}"`)).hits.map(({ seq }) => seq), word).toEqual([seqs[at]]);
  }
});
