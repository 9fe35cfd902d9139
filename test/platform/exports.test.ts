import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { pino } from 'pino';
import { extract } from 'tar-stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig } from '#platform/config.ts';
import type { Context } from '#platform/context.ts';
import type { Database } from '#platform/database/database.ts';
import { migrate } from '#platform/database/migrator.ts';
import { transaction } from '#platform/database/transaction.ts';
import { downloadToken, openArchive } from '#platform/exports/download.ts';
import type { ExportFile } from '#platform/exports/export-file.ts';
import { tableFile } from '#platform/exports/export-file.ts';
import { exportHandler } from '#platform/exports/export-handler.ts';
import { exportJobOf } from '#platform/exports/export-job.ts';
import { beginAttempt, finishPart, writeChunk } from '#platform/exports/export-part.ts';
import { ExportState } from '#platform/exports/export-state.ts';
import { findExport, forgetArchives, insertExport } from '#platform/exports/exports.ts';
import { newId } from '#platform/ids.ts';
import { installJobs } from '#platform/jobs/install-jobs.ts';
import { platformMigration } from '#platform/migrations/0001-platform.ts';
import { exportsMigration } from '#platform/exports/migration.ts';
import { loadSecrets } from '#platform/secrets.ts';
import type { Secrets } from '#platform/secrets.ts';
import { openTestDatabase } from './open-test-database.ts';

let database: Database;
let secrets: Secrets;
let now = new Date('2026-03-01T12:00:00Z');
const clock = { now: () => now };
const areas = ['alpha', 'beta'];
const em = () => database.orm.em.fork();
const ctx = () => ({ em: em(), clock, secrets, config: readConfig({}), logger: pino({ level: 'silent' }) }) as unknown as Context;

beforeAll(async () => {
  database = await openTestDatabase();
  await migrate(database, [platformMigration, exportsMigration]);
  await installJobs(database, areas.map(exportJobOf));
  secrets = await loadSecrets(database);
  await database.execute(`create table fruit (id int primary key, organization_id text not null, name text not null)`);
  await database.execute(`insert into fruit select n, case when n % 2 = 0 then 'org_a' else 'org_b' end, 'fruit ' || n from generate_series(1, 2400) as n`);
});
afterAll(() => database.close());

const fruits = tableFile({ name: 'beta/fruits', from: 'fruit', columns: 'id, name', first: 0 });

const fileOf = (rows: () => Iterable<object>, total: number): ExportFile => ({
  name: 'alpha/things',
  count: async () => total,
  async *rows() {
    yield* rows();
  },
});

async function started(): Promise<string> {
  const id = newId('export');
  await transaction(em(), (tx) => insertExport(tx, { id, organizationId: 'org_a', state: ExportState.QUEUED, createdAt: now }, areas));
  return id;
}

/** As a worker runs the job: what `commit` does is one transaction. */
const run = (area: string, files: readonly ExportFile[], exportId: string): Promise<void> =>
  exportHandler(area, files).run(ctx(), [{ exportId }], (effect) => transaction(em(), effect));

const statusOf = async (id: string) => (await findExport(em(), id, 'org_a'))!;
const chunksOf = async (id: string) => (await database.execute<{ area: string; number: number }>('select area, number from platform.export_chunk where export_id = $1 order by 1, 2', [id])).map(({ area, number }) => `${area} ${number}`);

async function archiveOf(id: string) {
  const { expiresAt } = await statusOf(id);
  return openArchive({ secrets, clock }, database, id, downloadToken({ secrets }, id, expiresAt!));
}

async function filesOf(id: string): Promise<{ name: string; rows: { id: number }[] }[]> {
  const files: { name: string; rows: { id: number }[] }[] = [];
  const entries = Readable.from((await archiveOf(id))!.bytes).pipe(createGunzip()).pipe(extract());
  for await (const entry of entries) {
    files.push({ name: entry.header.name, rows: (await text(entry)).split('\n').slice(0, -1).map((line) => JSON.parse(line) as { id: number }) });
  }
  return files;
}

const numbers = function* (count: number, content = '') {
  for (let id = 1; id <= count; id += 1) yield { id, content };
};

test('parts written apart join to one archive, which is there when the last is finished', async () => {
  const id = await started();
  expect(await statusOf(id)).toEqual({ id, state: 'queued', progress: 0, expiresAt: null });

  await run('beta', [fruits], id);
  expect(await statusOf(id)).toEqual({ id, state: 'running', progress: 0.5, expiresAt: null });

  // 10 MB: three entries.
  await run('alpha', [fileOf(() => numbers(1000, 'x'.repeat(10_000)), 1000), fileOf(() => [], 0)], id);
  expect(await statusOf(id)).toEqual({ id, state: 'succeeded', progress: 1, expiresAt: new Date(now.getTime() + 3_600_000) });

  const files = await filesOf(id);
  expect(files.map(({ name, rows }) => `${name} ${rows.length}`)).toEqual([
    'alpha/things-0001.jsonl 418',
    'alpha/things-0002.jsonl 418',
    'alpha/things-0003.jsonl 164',
    'alpha/things-0001.jsonl 0',
    'beta/fruits-0001.jsonl 1200',
  ]);
  expect(files[4]!.rows).toEqual(Array.from({ length: 1200 }, (_, index) => ({ id: 2 * index + 2, name: `fruit ${2 * index + 2}` })));
  const archive = (await archiveOf(id))!;
  let bytes = 0;
  for await (const chunk of archive.bytes) bytes += chunk.length;
  expect(bytes).toBe(archive.byteSize);
});

test('what an attempt wrote that died in the middle is removed by the next one', async () => {
  const id = await started();
  await run('beta', [fruits], id);
  const dying = fileOf(function* () {
    yield* numbers(1000, 'x'.repeat(10_000));
    throw new Error('the worker died');
  }, 1000);
  await expect(run('alpha', [dying], id)).rejects.toThrow('the worker died');
  expect(await chunksOf(id)).toEqual(['alpha 1', 'alpha 2', 'beta 1']);
  expect((await statusOf(id)).progress).toBe(0.91);

  await run('alpha', [fileOf(() => numbers(3), 3)], id);
  expect(await chunksOf(id)).toEqual(['alpha 1', 'beta 1']);
  expect((await filesOf(id))[0]!.rows.map((row) => row.id)).toEqual([1, 2, 3]);
});

test('an attempt that was thought dead can neither write nor finish', async () => {
  const id = await started();
  const first = (await beginAttempt(em(), id, 'alpha'))!;
  const second = (await beginAttempt(em(), id, 'alpha'))!;
  const chunk = { number: 1, bytes: Buffer.from('chunk'), rowsWritten: 1, rowsTotal: 1 };
  await expect(writeChunk(em(), first, chunk)).rejects.toThrow('no longer');
  await expect(transaction(em(), (tx) => finishPart(tx, first, now))).rejects.toThrow('no longer');
  await writeChunk(em(), second, chunk);
  expect(await chunksOf(id)).toEqual(['alpha 1']);
});

test('after five attempts the export has failed, and the other areas stop', async () => {
  const id = await started();
  await run('beta', [fruits], id);
  const broken = fileOf(() => {
    throw new Error('broken');
  }, 1);
  for (let attempt = 1; attempt < 5; attempt += 1) await expect(run('alpha', [broken], id)).rejects.toThrow('broken');
  expect((await statusOf(id)).state).toBe('running');
  await run('alpha', [broken], id);
  expect(await statusOf(id)).toEqual({ id, state: 'failed', progress: 0, expiresAt: null });
  await run('beta', [fruits], id);
  expect(await chunksOf(id)).toEqual([]);
});

test('an address is good for its export until it expires; the archive goes an hour later', async () => {
  const [id, other] = [await started(), await started()];
  for (const one of [id, other]) {
    await run('alpha', [fileOf(() => numbers(1), 1)], one);
    await run('beta', [fruits], one);
  }
  const { expiresAt } = await statusOf(id);
  const token = downloadToken({ secrets }, id, expiresAt!);
  expect(await openArchive({ secrets, clock }, database, id, token)).not.toBeNull();
  expect(await openArchive({ secrets, clock }, database, other, token)).toBeNull();
  expect(await openArchive({ secrets, clock }, database, id, '')).toBeNull();

  now = expiresAt!;
  await forgetArchives(ctx());
  expect(await openArchive({ secrets, clock }, database, id, token)).toBeNull();
  expect(await chunksOf(id)).not.toEqual([]);
  now = new Date(expiresAt!.getTime() + 3_600_001);
  await forgetArchives(ctx());
  expect(await chunksOf(id)).toEqual([]);
  expect((await statusOf(id)).state).toBe('succeeded');
});

test('another organization has no such export', async () => {
  expect(await findExport(em(), await started(), 'org_b')).toBeNull();
});
