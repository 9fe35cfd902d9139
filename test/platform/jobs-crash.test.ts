import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { Database } from '#platform/database/database.ts';
import { openDatabase } from '#platform/database/database.ts';
import { query } from '#platform/database/query.ts';
import { installJobs } from '#platform/jobs/install-jobs.ts';
import { defineJob, enqueue } from '#platform/jobs/job.ts';
import type { JobHandler } from '#platform/jobs/worker.ts';
import { startJobs } from '#platform/jobs/worker.ts';
import { openTestDatabase } from './open-test-database.ts';

const job = defineJob({ name: 'demo.crash', input: z.object({ n: z.number() }) });
const logger = pino({ level: 'silent' });
let dataDir: string;
/** On a server the test's own database, which lives on; embedded, each process opens the folder in turn. */
let onServer: Database | null = null;
let url = '';

const open = async (): Promise<Database> => onServer ?? (await openDatabase({ url: null, dataDir, entities: [], poolMax: 1, logger }));

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'quadrivium-'));
  if (process.env['DATABASE_URL'] === undefined) return;
  onServer = await openTestDatabase();
  const [row] = await onServer.execute<{ name: string }>(`select current_database() as name`);
  url = Object.assign(new URL(process.env['DATABASE_URL']), { pathname: `/${row!.name}` }).href;
});
afterAll(async () => {
  await onServer?.close();
  await rm(dataDir, { recursive: true });
});

const insertAll: JobHandler<null, typeof job> = {
  job,
  batchSize: 10,
  async run(_ctx, inputs, commit) {
    await commit((em) => query(em, `insert into effect select unnest($1::int[])`, [inputs.map(({ n }) => n)]));
  },
};

test('jobs that a process had in hand when it was killed are run by the next one, once', async () => {
  const before = await open();
  await before.execute(`create table effect (n int not null)`);
  await installJobs(before, [job]);
  await enqueue(before.orm.em.fork(), job, [{ n: 1 }, { n: 2 }]);
  if (before !== onServer) await before.close();

  // More often than a job is tried that fails: on the embedded engine that is no failure. A server would take 20 s for each.
  for (let kills = 0; kills < (onServer === null ? job.retryLimit + 2 : 1); kills += 1) {
    const child = spawn(process.execPath, ['--conditions=source', join(import.meta.dirname, 'jobs-crash-worker.ts'), url, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
    const died = once(child, 'exit');
    await once(child.stdout, 'data', { signal: AbortSignal.timeout(120_000) }).finally(() => child.kill('SIGKILL'));
    await died;
  }

  const after = await open();
  const jobs = await startJobs({
    database: after,
    makeContext: () => null,
    logger,
    handlers: [insertAll],
  });
  const started = performance.now();
  await vi.waitFor(async () => expect(await after.execute(`select n from effect order by n`)).toEqual([{ n: 1 }, { n: 2 }]), { timeout: 60_000, interval: 50 });
  // The embedded engine knows its orphans; a server waits for two heartbeats of ten seconds and looks every five.
  expect(performance.now() - started).toBeLessThan(onServer === null ? 2_000 : 30_000);
  await jobs.stop();
  if (after !== onServer) await after.close();
});
