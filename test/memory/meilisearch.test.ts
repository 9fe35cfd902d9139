import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Meilisearch } from 'meilisearch';
import type { EntityClass } from '@mikro-orm/core';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '#platform/clock.ts';
import type { Config } from '#platform/config.ts';
import { readConfig } from '#platform/config.ts';
import type { Context } from '#platform/context.ts';
import type { Database } from '#platform/database/database.ts';
import { migrate } from '#platform/database/migrator.ts';
import { query } from '#platform/database/query.ts';
import { transaction } from '#platform/database/transaction.ts';
import { installJobs } from '#platform/jobs/install-jobs.ts';
import { enqueue } from '#platform/jobs/job.ts';
import { startJobs } from '#platform/jobs/worker.ts';
import type { JobHandler } from '#platform/jobs/worker.ts';
import { platformMigration } from '#platform/migrations/0001-platform.ts';
import { webhooksMigration } from '#platform/webhooks/migration.ts';
import { MemoryObject } from '../../subgraphs/memory/entities/memory-object.ts';
import { embed } from '../../subgraphs/memory/jobs/embed.ts';
import { indexKeywords } from '../../subgraphs/memory/jobs/index-keywords.ts';
import { indexKeywordsHandler } from '../../subgraphs/memory/jobs/index-keywords-handler.ts';
import { enqueueMeilisearch } from '../../subgraphs/memory/jobs/index-meilisearch.ts';
import { indexMeilisearchHandler } from '../../subgraphs/memory/jobs/index-meilisearch-handler.ts';
import { memoryMigration } from '../../subgraphs/memory/migrations/0001-memory.ts';
import { rebuildKeywords } from '../../subgraphs/memory/operations/rebuild-keywords.ts';
import { rebuildMeilisearch } from '../../subgraphs/memory/operations/rebuild-meilisearch.ts';
import { reembed } from '../../subgraphs/memory/operations/reembed.ts';
import { agreeWithMeilisearch } from '../../subgraphs/memory/operations/agree-with-meilisearch.ts';
import { sweepMemories } from '../../subgraphs/memory/operations/sweep-memories.ts';
import { FallbackKeywordIndex } from '../../subgraphs/memory/ports/fallback-keyword-index.ts';
import { MeilisearchKeywordIndex } from '../../subgraphs/memory/ports/meilisearch-keyword-index.ts';
import { Circuit } from '../../subgraphs/memory/ports/meilisearch/circuit.ts';
import { partsOf } from '../../subgraphs/memory/ports/meilisearch/documents.ts';
import { filterExpression } from '../../subgraphs/memory/ports/meilisearch/filter-expression.ts';
import { queryWords } from '../../subgraphs/memory/ports/meilisearch/query-words.ts';
import type { MemoryPorts } from '../../subgraphs/memory/ports/ports.ts';
import { PostgresKeywordIndex } from '../../subgraphs/memory/ports/postgres-keyword-index.ts';
import { noFilter } from '../../subgraphs/memory/queries/filter.ts';
import { insertProcessed } from '../../subgraphs/memory/queries/insert-processed.ts';
import { keywordDocuments } from '../../subgraphs/memory/queries/keyword-documents.ts';
import { eventually } from '../harness/eventually.ts';
import { startMeilisearchStandIn } from '../harness/meilisearch-stand-in.ts';
import type { IndexState, MeilisearchStandIn } from '../harness/meilisearch-stand-in.ts';
import { openTestDatabase } from '../platform/open-test-database.ts';

const realServer = process.env['MEILI_URL'];
console.info(realServer ? `Meilisearch: stand-in, and the server at ${realServer}.` : 'Meilisearch: contract test against the stand-in only; set MEILI_URL (and MEILI_API_KEY) for a real server.');

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase([MemoryObject] as unknown as EntityClass[]);
  await migrate(database, [platformMigration, webhooksMigration, memoryMigration]);
  await installJobs(database, [indexKeywords, indexMeilisearchHandler.job, embed]);
});
afterAll(() => database.close());

const em = () => database.orm.em.fork();
const report = () => {};

interface Row {
  readonly content: string;
  readonly metadata?: object;
  readonly createdAt?: string;
  readonly expiresAt?: string | null;
}

/** A workspace of its own, filled in the database only. */
async function workspaceOf(...rows: readonly (string | Row)[]) {
  const workspaceId = `wsp_${randomUUID()}`;
  const seqOf = new Map<string, number>();
  const idOf = new Map<string, string>();
  const add = async (row: string | Row): Promise<string> => {
    const { content, metadata = {}, createdAt = '2026-01-01T00:00:00Z', expiresAt = null }: Row = typeof row === 'string' ? { content: row } : row;
    const [made] = await query<{ id: string; seq: number }>(
      em(),
      `insert into memory.object (id, organization_id, vault_id, workspace_id, content, content_hash, byte_size, metadata, created_at, expires_at)
       values ('mem_' || gen_random_uuid(), 'org', 'vault', $1, $2, decode(md5(random()::text), 'hex'), $3, $4, $5, $6) returning id, seq`,
      [workspaceId, content, Buffer.byteLength(content), JSON.stringify(metadata), createdAt, expiresAt],
    );
    seqOf.set(content, made!.seq);
    idOf.set(content, made!.id);
    return made!.id;
  };
  for (const row of rows) await add(row);
  return { workspaceId, add, seqOf, id: (content: string) => idOf.get(content)!, contentOf: (seq: number) => [...seqOf].find(([, one]) => one === seq)?.[0] };
}
type Workspace = Awaited<ReturnType<typeof workspaceOf>>;

function contextOf(index: MeilisearchKeywordIndex, circuit = new Circuit({ logger: pino({ level: 'silent' }) }), config: Partial<Config> = {}) {
  const postgres = new PostgresKeywordIndex({ documents: keywordDocuments });
  const keywords = new FallbackKeywordIndex({ preferred: index, circuit, fallback: postgres });
  const ports = { keywords, meilisearch: { index, circuit }, embedder: { model: 'new' } } as unknown as MemoryPorts;
  return { em: em(), ports, config: { ...readConfig({}), meiliUrl: 'http://configured', ...config }, clock: systemClock } as unknown as Context<MemoryPorts>;
}

const servers: [string, () => Promise<{ url: string; apiKey: string | null; standIn: MeilisearchStandIn | null }>][] = [
  ['the stand-in', async () => startMeilisearchStandIn().then((standIn) => ({ url: standIn.url, apiKey: 'key', standIn }))],
  ...(realServer ? [['the real server', async () => ({ url: realServer, apiKey: process.env['MEILI_API_KEY'] ?? null, standIn: null })] as (typeof servers)[number]] : []),
];

describe.each(servers)('contract with Meilisearch: %s', (_name, start) => {
  const indexName = `test_${randomUUID()}`;
  let server: Awaited<ReturnType<typeof start>>;
  let index: MeilisearchKeywordIndex;
  let ctx: Context<MemoryPorts>;

  beforeAll(async () => {
    server = await start();
    index = new MeilisearchKeywordIndex({ ...server, documents: keywordDocuments, indexName });
    ctx = contextOf(index);
  });
  afterAll(async () => {
    expect(server.standIn?.violations ?? []).toEqual([]);
    await ctx.ports.keywords.close();
    if (server.standIn) return server.standIn.close();
    const client = new Meilisearch({ host: server.url, ...(server.apiKey !== null && { apiKey: server.apiKey }) });
    for (const uid of [indexName, `${indexName}_filled`]) await client.index(uid).delete().waitTask();
  });

  const search = ({ workspaceId }: Workspace, text: string, { filter = noFilter, ranking = 'tiered' as 'tiered' | 'bm25', limit = 1000 } = {}) => index.search(em(), { workspaceId, text, filter, ranking, limit });
  const found = async (workspace: Workspace, text: string, options = {}) => (await search(workspace, text, options)).hits.map(({ seq }) => workspace.contentOf(seq));
  const filled = async (...rows: readonly (string | Row)[]) => {
    const workspace = await workspaceOf(...rows);
    await rebuildMeilisearch(ctx, report);
    return workspace;
  };

  test('refuses to answer until it was filled', async () => {
    const workspace = await workspaceOf('waiting');
    await expect(search(workspace, 'waiting')).rejects.toThrow(/not found/);
    await rebuildMeilisearch(ctx, report);
    expect(await found(workspace, 'waiting')).toEqual(['waiting']);
  });

  test('finds words, all of them first, then more, then fewer, whatever their order', async () => {
    const workspace = await filled('quarterly budget', 'budget review', 'quarterly budget review', 'review', 'unrelated');
    const contents = await found(workspace, 'review of the quarterly zanzibar budget');
    expect(contents[0]).toBe('quarterly budget review');
    expect(contents.slice(1, 3).toSorted()).toEqual(['budget review', 'quarterly budget']);
    expect(contents[3]).toBe('review');
    expect(contents).toHaveLength(4);
    const { hits } = await search(workspace, 'review of the quarterly zanzibar budget');
    for (const { score } of hits) expect(score).toSatisfy((value: number) => value >= 0 && value <= 1);
    expect(hits.map(({ score }) => score)).toEqual(hits.map(({ score }) => score).toSorted((a, b) => b - a));
  });

  test('tolerates a typo from 5 letters and two from 9, none in numbers, and names the word it found', async () => {
    const workspace = await filled('the harbour opens', 'an infrastructure plan', 'four cats', 'case 1234567');
    const { hits, terms } = await search(workspace, 'harbuor');
    expect(hits.map(({ seq }) => workspace.contentOf(seq))).toEqual(['the harbour opens']);
    expect(terms).toContain('harbour');
    expect(await found(workspace, 'infrastructrue')).toEqual(['an infrastructure plan']);
    expect(await found(workspace, 'cots')).toEqual([]);
    expect(await found(workspace, '1234568')).toEqual([]);
  });

  test('phrases are mandatory, and a sign before a word excludes nothing', async () => {
    const workspace = await filled('the north gate is shut', 'the gate to the north', 'north gate');
    expect((await found(workspace, '"north gate"')).toSorted()).toEqual(['north gate', 'the north gate is shut']);
    expect(await found(workspace, 'shut "north gate"')).toEqual(['the north gate is shut', 'north gate']);
    expect((await found(workspace, 'north -gate'))).toHaveLength(3);
  });

  test('keeps workspaces apart and narrows by every filter', async () => {
    const one = await filled({ content: 'alpha apple', metadata: { category: 'a "b" \\ c', department: 'ops', tags: ['x', 'y'] }, createdAt: '2026-01-01T00:00:00Z' }, { content: 'alpha pear', metadata: { category: 'other', tags: ['x'] }, createdAt: '2026-02-01T00:00:00Z' });
    const two = await filled('alpha secret');
    expect((await found(one, 'alpha')).toSorted()).toEqual(['alpha apple', 'alpha pear']);
    expect(await found(two, 'alpha')).toEqual(['alpha secret']);
    expect(await found(one, 'alpha', { filter: { ...noFilter, category: 'a "b" \\ c' } })).toEqual(['alpha apple']);
    expect(await found(one, 'alpha', { filter: { ...noFilter, department: 'ops' } })).toEqual(['alpha apple']);
    expect(await found(one, 'alpha', { filter: { ...noFilter, tags: ['x', 'y'] } })).toEqual(['alpha apple']);
    expect(await found(one, 'alpha', { filter: { ...noFilter, createdAfter: new Date('2026-01-01T00:00:00Z') } })).toEqual(['alpha pear']);
    expect(await found(one, 'alpha', { filter: { ...noFilter, createdBefore: new Date('2026-02-01T00:00:00Z') } })).toEqual(['alpha apple']);
    // Meilisearch compares without case; the database has the last word.
    expect(await found(one, 'alpha', { filter: { ...noFilter, category: 'OTHER' } })).toEqual([]);
    for (const attack of ['x" OR workspace_id = "' + two.workspaceId, '\\" OR workspace_id EXISTS OR category = "', '"']) {
      expect(await found(one, 'alpha', { filter: { ...noFilter, category: attack } })).toEqual([]);
    }
  });

  test('finds the end of a long content, counts the object once', async () => {
    const content = `${'an. ordinary, sentence; of words! '.repeat(30_000)}the treasure lies below`;
    const workspace = await filled(content);
    expect(await found(workspace, 'treasure')).toEqual([content]);
    expect(await found(workspace, 'ordinary')).toEqual([content]);
  });

  test('lists exact hits of rare identifiers, beyond the limit too', async () => {
    const workspace = await filled('incident about ERR-48213-X', ...Array.from({ length: 5 }, (_, at) => `incident report about something ${at}`));
    const { hits } = await search(workspace, 'incident report about something ERR-48213-X', { ranking: 'bm25', limit: 2 });
    expect(hits.filter(({ exact }) => exact).map(({ seq }) => workspace.contentOf(seq))).toEqual(['incident about ERR-48213-X']);
  });

  test('follows changes and deletions, and never shows what the database no longer holds', async () => {
    const workspace = await filled('old text', 'doomed text');
    const agree = async (content: string) => {
      expect(await agreeWithMeilisearch(em(), index, [workspace.id(content)])).toEqual([]);
    };
    await query(em(), `update memory.object set status = 'deleted' where id = $1`, [workspace.id('doomed text')]);
    expect(await found(workspace, 'text')).toEqual(['old text']);
    await agree('doomed text');
    await query(em(), `update memory.object set content = 'new text', seq = nextval('memory.content_seq') where id = $1`, [workspace.id('old text')]);
    await agree('old text');
    const { hits } = await search(workspace, 'text');
    expect(hits).toHaveLength(1);
    if (server.standIn) {
      const kept = server.standIn.documents(indexName).filter((document) => document['workspace_id'] === workspace.workspaceId);
      expect(kept.map(({ content }) => content)).toEqual(['new text']);
    }
  });

  test('a rebuild removes what nobody knows any more', async () => {
    const workspace = await filled('forgotten');
    await query(em(), 'delete from memory.object where id = $1', [workspace.id('forgotten')]);
    await rebuildMeilisearch(ctx, report);
    if (server.standIn) expect(server.standIn.documents(indexName).some(({ content }) => content === 'forgotten')).toBe(false);
    expect(await found(workspace, 'forgotten')).toEqual([]);
  });

  test('a task that fails later is a failure', async ({ skip }) => {
    if (!server.standIn) return skip('a real server does not fail on request');
    const workspace = await workspaceOf('refused');
    server.standIn.failNext('documentAdditionOrUpdate');
    await expect(rebuildMeilisearch(ctx, report)).rejects.toThrow('told to fail');
    await rebuildMeilisearch(ctx, report);
    expect(await found(workspace, 'refused')).toEqual(['refused']);
  });
});

describe('Meilisearch comes and goes', () => {
  test('PostgreSQL answers meanwhile, one warning says so, and what was stored meanwhile is there afterwards', async () => {
    const data = new Map<string, IndexState>();
    let standIn = await startMeilisearchStandIn({ data });
    const lines: string[] = [];
    const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
    const circuit = new Circuit({ logger, retryMs: 100 });
    const index = new MeilisearchKeywordIndex({ url: standIn.url, apiKey: 'key', documents: keywordDocuments });
    const ctx = contextOf(index, circuit);
    const jobs = await startJobs({
      database,
      logger: pino({ level: 'silent' }),
      handlers: [indexKeywordsHandler, indexMeilisearchHandler] as unknown as JobHandler<Context<MemoryPorts>>[],
      makeContext: () => ({ ...ctx, em: em() }),
    });
    const workspace = await workspaceOf();
    const store = async (content: string) => {
      const id = await workspace.add(content);
      await transaction(em(), (inner) => enqueue(inner, indexKeywords, [{ ids: [id] }]));
    };
    const found = async (text: string) => (await ctx.ports.keywords.search(em(), { workspaceId: workspace.workspaceId, text, filter: noFilter, ranking: 'tiered', limit: 10 })).hits.map(({ seq }) => workspace.contentOf(seq));
    const searches = () => standIn.requests.filter(({ path }) => path === '/multi-search').length;
    try {
      await rebuildMeilisearch(ctx, report);
      await store('harbour before');
      await eventually(async () => expect(await found('harbour')).toEqual(['harbour before']));
      expect(standIn.documents().some(({ content }) => content === 'harbour before')).toBe(true);

      const { port } = standIn;
      await standIn.close();
      await store('harbour during');
      await eventually(async () => expect((await found('harbour')).toSorted()).toEqual(['harbour before', 'harbour during']));
      for (let time = 0; time < 20; time++) await found('harbour');
      const warnings = () => lines.filter((line) => line.includes('"level":40'));
      expect(warnings()).toHaveLength(1);
      expect(warnings()[0]).toContain('Meilisearch is away');

      standIn = await startMeilisearchStandIn({ port, data });
      await eventually(async () => {
        expect((await found('harbour')).toSorted()).toEqual(['harbour before', 'harbour during']);
        expect(searches()).toBeGreaterThan(0);
        expect(standIn.documents().some(({ content }) => content === 'harbour during')).toBe(true);
      });
      await eventually(async () => expect((await found('harbour')).toSorted()).toEqual(['harbour before', 'harbour during']));
      expect(warnings()).toHaveLength(1);
      expect(lines.filter((line) => line.includes('Meilisearch is back'))).toHaveLength(1);

      await query(em(), `update memory.object set expires_at = '2026-01-02' where id = $1`, [workspace.id('harbour during')]);
      await sweepMemories({ ...ctx, em: em() });
      await eventually(async () => expect(standIn.documents().map(({ content }) => content)).not.toContain('harbour during'));
      expect(standIn.violations).toEqual([]);
    } finally {
      await jobs.stop();
      await standIn.close();
      await ctx.ports.keywords.close();
    }
  });

  const refusing: [string, (response: ServerResponse) => void][] = [
    ['answers 503', (response) => void response.writeHead(503).end()],
    ['refuses the key', (response) => void response.writeHead(403).end('{"code":"invalid_api_key","message":"no"}')],
    ['never answers', () => {}],
  ];
  test.each(refusing)('a server that %s is away too', async (_name, answer) => {
    const server = createServer((_, response) => answer(response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const ctx = contextOf(new MeilisearchKeywordIndex({ url: `http://127.0.0.1:${port}`, apiKey: null, documents: keywordDocuments }));
    const workspace = await workspaceOf('lighthouse');
    await transaction(em(), await ctx.ports.keywords.prepare(workspace.workspaceId, [{ seq: workspace.seqOf.get('lighthouse')!, content: 'lighthouse' }]));
    const { hits } = await ctx.ports.keywords.search(em(), { workspaceId: workspace.workspaceId, text: 'lighthouse', filter: noFilter, ranking: 'tiered', limit: 10 });
    expect(hits).toHaveLength(1);
    await ctx.ports.keywords.close();
    server.closeAllConnections();
    server.close();
  });

  test('without MEILI_URL nothing is enqueued', async () => {
    const before = await query(em(), `select id from pgboss.job where name = 'memory.index-meilisearch'`);
    await enqueueMeilisearch({ config: { ...readConfig({}) } }, em(), ['mem_x']);
    expect(await query(em(), `select id from pgboss.job where name = 'memory.index-meilisearch'`)).toEqual(before);
  });
});

describe('rebuilding', () => {
  test('PostgreSQL segments are made anew for every workspace', async () => {
    const ctx = contextOf(new MeilisearchKeywordIndex({ url: 'http://127.0.0.1:9', apiKey: null, documents: keywordDocuments }));
    const workspace = await workspaceOf('cathedral one', 'cathedral two');
    const old = await query<{ id: number }>(em(), 'select id from memory.keyword_segment');
    const reports: [number, number][] = [];
    await rebuildKeywords(ctx, (done, total) => void reports.push([done, total]));
    expect(reports.at(-1)![0]).toBe(reports.at(-1)![1]);
    const { hits } = await ctx.ports.keywords.search(em(), { workspaceId: workspace.workspaceId, text: 'cathedral', filter: noFilter, ranking: 'tiered', limit: 10 });
    expect(hits).toHaveLength(2);
    expect(await query(em(), 'select id from memory.keyword_segment where id = any($1::bigint[])', [old.map(({ id }) => id)])).toEqual([]);
    await ctx.ports.keywords.close();
  });

  test('what another model embedded is embedded again; old passages stay until then', async () => {
    const ctx = contextOf(new MeilisearchKeywordIndex({ url: 'http://127.0.0.1:9', apiKey: null, documents: keywordDocuments }));
    const workspace = await workspaceOf('by the old model', 'by the new model');
    const processed = (content: string) => ({
      id: workspace.id(content), seq: workspace.seqOf.get(content)!, organizationId: 'org', vaultId: 'vault', workspaceId: workspace.workspaceId, entities: [],
      passages: [{ start: 0, end: 3, vector: new Float32Array([1, 0]) }],
    });
    await insertProcessed(em(), [processed('by the old model')], 'old', new Date(0));
    await insertProcessed(em(), [processed('by the new model')], 'new', new Date(0));
    await reembed(ctx, report);
    const jobs = await query<{ data: { ids: string[] } }>(em(), `select data from pgboss.job where name = 'memory.embed'`);
    expect(jobs.flatMap(({ data }) => data.ids)).toEqual([workspace.id('by the old model')]);
    const passages = () => query<{ model: string }>(em(), 'select model from memory.passage where object_id = $1', [workspace.id('by the old model')]);
    expect(await passages()).toEqual([{ model: 'old' }]);
    await insertProcessed(em(), [processed('by the old model')], 'new', new Date(0));
    expect(await passages()).toEqual([{ model: 'new' }]);
    await ctx.ports.keywords.close();
  });
});

describe('what is sent', () => {
  test('values cannot leave their quotes', () => {
    const filter = { ...noFilter, category: 'a" OR workspace_id = "b', department: 'back\\', tags: ['\\" OR 1'] };
    expect(filterExpression('wsp_1', filter)).toEqual(['workspace_id = "wsp_1"', 'category = "a\\" OR workspace_id = \\"b"', 'department = "back\\\\"', 'tags = "\\\\\\" OR 1"']);
    expect(filterExpression('x" OR workspace_id EXISTS', noFilter)).toEqual(['workspace_id = "x\\" OR workspace_id EXISTS"']);
  });

  test('values that Meilisearch cannot compare are left to the database', () => {
    expect(filterExpression('wsp_1', { ...noFilter, category: 'ä'.repeat(300), department: '', tags: [' '] })).toEqual(['workspace_id = "wsp_1"']);
  });

  test('ten words, the telling ones', () => {
    expect(queryWords('what is the "north gate" of -Zürich, and why?')).toEqual({ phrases: ['"north gate"'], words: ['Zürich'] });
    expect(queryWords(Array.from({ length: 20 }, (_, at) => `word${at}`).join(' ')).words).toHaveLength(10);
    expect(queryWords('to be or not to be').words).toEqual(['to', 'be', 'or', 'not']);
    expect(queryWords('an "unclosed phrase')).toEqual({ phrases: [], words: ['unclosed', 'phrase'] });
    expect(queryWords('--- "..."')).toEqual({ phrases: [], words: [] });
  });

  test('parts cover all of a content, overlap, and stay short', () => {
    const text = Array.from({ length: 20_000 }, (_, at) => `w${at}`).join(' ');
    const parts = partsOf(text);
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(16_000);
    expect(new Set(parts.flatMap((part) => part.split(/\s+/)))).toEqual(new Set(['', ...text.split(' ')]));
    expect(partsOf('😀'.repeat(20_000)).every((part) => part.isWellFormed())).toBe(true);
    expect(partsOf('short')).toEqual(['short']);
  });
});
