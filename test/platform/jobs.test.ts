import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { Database } from '#platform/database/database.ts';
import { query } from '#platform/database/query.ts';
import { transaction } from '#platform/database/transaction.ts';
import { every } from '#platform/jobs/every.ts';
import { installJobs } from '#platform/jobs/install-jobs.ts';
import { defineJob, enqueue } from '#platform/jobs/job.ts';
import type { JobHandler } from '#platform/jobs/worker.ts';
import { startJobs } from '#platform/jobs/worker.ts';
import { openTestDatabase } from './open-test-database.ts';

const job = defineJob({ name: 'demo.add', input: z.object({ n: z.number() }), retryLimit: 1, retryDelaySeconds: 0 });
const logger = pino({ level: 'silent' });
let database: Database;
let running: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  database = await openTestDatabase();
  await database.execute(`create table effect (n int not null)`);
  // As when several processes start at once on a new database.
  await Promise.all([installJobs(database, [job]), installJobs(database, [job]), installJobs(database, [job])]);
});
beforeEach(() => database.execute(`truncate effect, pgboss.job`));
afterEach(async () => {
  await Promise.all(running.map((jobs) => jobs.stop()));
  running = [];
});
afterAll(() => database.close());

const em = () => database.orm.em.fork();
const add = (...numbers: number[]) => transaction(em(), (tx) => enqueue(tx, job, numbers.map((n) => ({ n }))));
const effects = async () => (await query<{ n: number }>(em(), `select n from effect order by n`)).map(({ n }) => n);
const queued = () => query<{ state: string; n: number }>(em(), `select state, (data->>'n')::int as n from pgboss.job where name = 'demo.add' order by n`);
const eventually = <T>(assertion: () => Promise<T>) => vi.waitFor(assertion, { timeout: 60_000, interval: 20 });

async function start(run: JobHandler<null, typeof job>['run'], batchSize = 50): Promise<{ stop(): Promise<void> }> {
  const handler: JobHandler<null, typeof job> = { job, batchSize, run };
  const jobs = await startJobs({ database, handlers: [handler], makeContext: () => null, logger });
  running.push(jobs);
  return jobs;
}

const insertAll: JobHandler<null, typeof job>['run'] = (_ctx, inputs, commit) =>
  commit((tx) => query(tx, `insert into effect select unnest($1::int[])`, [inputs.map(({ n }) => n)])).then(() => {});

test('a job exists exactly when the transaction that enqueued it committed', async () => {
  await add(1, 2);
  await transaction(em(), async (tx) => {
    await enqueue(tx, job, [{ n: 3 }]);
    throw new Error('refused');
  }).catch(() => {});
  expect(await queued()).toEqual([{ state: 'created', n: 1 }, { state: 'created', n: 2 }]);
});

test('a job with a wrong input, or of a name nobody installed, is refused', async () => {
  await expect(enqueue(em(), job, [{ n: 'one' } as never])).rejects.toThrow(z.ZodError);
  await expect(enqueue(em(), defineJob({ name: 'demo.unknown', input: z.object({}) }), [{}])).rejects.toThrow('demo.unknown');
});

test('jobs are run once each and leave nothing behind', async () => {
  await start(insertAll);
  const numbers = Array.from({ length: 200 }, (_, n) => n);
  await Promise.all(numbers.map((n) => add(n)));
  await eventually(async () => expect(await effects()).toEqual(numbers));
  expect(await queued()).toEqual([]);
});

test('the higher priority runs first, and a later start waits', async () => {
  await transaction(em(), async (tx) => {
    await enqueue(tx, job, [{ n: 1 }]);
    await enqueue(tx, job, [{ n: 2 }], { priority: 1 });
    await enqueue(tx, job, [{ n: 3 }], { startAfter: 3600 });
    await enqueue(tx, job, [{ n: 4 }], { startAfter: new Date('2999-01-01') });
  });
  const order: number[] = [];
  await start(async (_ctx, [input]) => void order.push(input!.n), 1);
  await eventually(async () => expect(order).toEqual([2, 1]));
  expect((await queued()).filter(({ state }) => state === 'created').map(({ n }) => n)).toEqual([3, 4]);
});

test('an effect whose job was given to another worker meanwhile is undone', async () => {
  await add(1);
  let runs = 0;
  await start(async (_ctx, inputs, commit) => {
    runs += 1;
    // What the supervisor and another worker do to a run that takes too long: the job goes back and is fetched again.
    if (runs === 1) await database.execute(`update pgboss.job set retry_count = retry_count + 1 where name = 'demo.add'`);
    await commit((tx) => query(tx, `insert into effect values ($1)`, [inputs[0]!.n]));
  });
  await eventually(async () => expect(runs).toBe(1));
  await Promise.all(running.map((jobs) => jobs.stop()));
  expect(await effects()).toEqual([]);
  expect(await queued()).toEqual([{ state: 'active', n: 1 }]);
  await database.execute(`update pgboss.job set state = 'retry', retry_count = 0 where name = 'demo.add'`);
  await start(insertAll);
  await eventually(async () => expect(await effects()).toEqual([1]));
});

test('a handler cannot commit the same jobs twice', async () => {
  await add(1);
  let second: unknown;
  await start(async (_ctx, inputs, commit) => {
    await commit((tx) => query(tx, `insert into effect values ($1)`, [inputs[0]!.n]));
    second = await commit((tx) => query(tx, `insert into effect values (99)`)).catch((error: unknown) => error);
  });
  await eventually(async () => expect(second).toBeInstanceOf(Error));
  expect(await effects()).toEqual([1]);
});

test('a job that always fails does not sink its neighbours, and is kept as failed', async () => {
  await add(1, 2, 3);
  await start(async (ctx, inputs, commit) => {
    if (inputs.some(({ n }) => n === 2)) throw new Error('poisoned');
    await insertAll(ctx, inputs, commit);
  });
  await eventually(async () => expect(await queued()).toEqual([{ state: 'failed', n: 2 }]));
  expect(await effects()).toEqual([1, 3]);
});

test('stopping waits for what is in hand', async () => {
  await add(1);
  const begun = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const jobs = await start(async (ctx, inputs, commit) => {
    begun.resolve();
    await finish.promise;
    await insertAll(ctx, inputs, commit);
  });
  await begun.promise;
  const stopped = jobs.stop();
  await add(2);
  finish.resolve();
  await stopped;
  expect(await effects()).toEqual([1]);
  expect(await queued()).toEqual([{ state: 'created', n: 2 }]);
});

test('periodic work is repeated, also after a failure, and by one of several processes at a time', async () => {
  let runs = 0;
  let inside = 0;
  let insideMost = 0;
  const tick = every<null>(0.1, 'demo.tick', async () => {
    insideMost = Math.max(insideMost, (inside += 1));
    await query(em(), `select 1`);
    inside -= 1;
    if ((runs += 1) === 2) throw new Error('once');
  });
  for (let process = 0; process < 2; process += 1) running.push(await startJobs({ database, handlers: [tick], makeContext: () => null, logger }));
  await eventually(async () => expect(runs).toBeGreaterThan(4));
  expect(insideMost).toBe(1);
  expect(await query(em(), `select count(*) from pgboss.job where name = 'demo.tick' and state <= 'active'`)).toEqual([{ count: 1 }]);
});
