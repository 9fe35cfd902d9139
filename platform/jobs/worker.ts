import type { EntityManager } from '@mikro-orm/core';
import type { Job as FetchedJob, JobResult } from 'pg-boss';
import type { Logger } from 'pino';
import type { z } from 'zod';
import type { Database } from '../database/database.ts';
import { query } from '../database/query.ts';
import { transaction } from '../database/transaction.ts';
import { HEARTBEAT_SECONDS, installJobs, startBoss } from './install-jobs.ts';
import type { Job } from './job.ts';
import { enqueue } from './job.ts';

/** Runs the effect and takes the jobs in hand out of the queue, in one transaction. */
export type Commit = <T>(effect: (em: EntityManager) => Promise<T>) => Promise<T>;

export interface JobHandler<Ctx, J extends Job = Job> {
  readonly job: J;
  /** How many jobs one run takes at most. */
  readonly batchSize: number;
  /** How many runs of it go on at once in this process; 1 unless given. */
  readonly concurrency?: number;
  /** How often to look for jobs that nobody announced (retries, later starts); 5 s unless given. */
  readonly pollingSeconds?: number;
  /** Looks for a job so long after the end of the last one as well: it left a successor behind that starts then. */
  readonly periodSeconds?: number;
  /** A job to begin with at start, unless one is waiting or running already; for exclusive jobs. */
  readonly atStart?: z.input<J['input']>;
  /**
   * Long work first, then `commit` once. An effect made in there happens exactly once, whatever dies when; anything else
   * that `run` does may happen again. A run that throws is repeated with each of its jobs alone.
   */
  run(ctx: Ctx, inputs: z.output<J['input']>[], commit: Commit): Promise<void>;
}

interface JobsOptions<Ctx> {
  readonly database: Database;
  readonly handlers: readonly JobHandler<Ctx>[];
  readonly makeContext: () => Ctx;
  readonly logger: Logger;
}

const POLLING_SECONDS = 5;
const STOP_TIMEOUT_MS = 30_000;
/** The database's clock may tick a little later than ours. */
const CLOCK_MS = 20;

/** Works on the jobs of all handlers until stopped; `stop` waits for what is in hand. */
export async function startJobs<Ctx>(options: JobsOptions<Ctx>): Promise<{ stop(): Promise<void> }> {
  const { database, handlers, logger } = options;
  await installJobs(database, handlers.map(({ job }) => job));
  if (database.engine === 'embedded') await releaseOrphans(database, handlers.map(({ job }) => job.name));
  const lookSeconds = database.engine === 'server' ? HEARTBEAT_SECONDS / 2 : 60;
  const boss = await startBoss(database, { useListenNotify: true, schedule: false, superviseIntervalSeconds: lookSeconds, monitorIntervalSeconds: lookSeconds });
  boss.on('error', (error) => logger.error({ err: error }, 'jobs failed'));
  boss.on('warning', (warning) => logger.warn({ warning }, 'jobs'));
  const timers = new Map<string, NodeJS.Timeout>();
  for (const handler of handlers) {
    const pollingSeconds = handler.pollingSeconds ?? POLLING_SECONDS;
    const polling = { pollingIntervalSeconds: pollingSeconds, notifyPollingIntervalSeconds: pollingSeconds, burstWhenBatchFull: true };
    if (handler.atStart !== undefined) await enqueueAtStart(database, handler.job, handler.atStart);
    const { name } = handler.job;
    const workerId = await boss.work(name, { ...polling, batchSize: handler.batchSize, localConcurrency: handler.concurrency ?? 1, perJobResults: true }, async (jobs) => {
      const results = await runIsolated(options, handler, jobs as Fetched[]);
      clearTimeout(timers.get(name));
      if (handler.periodSeconds !== undefined) timers.set(name, setTimeout(() => boss.notifyWorker(workerId), handler.periodSeconds * 1000 + CLOCK_MS));
      return results;
    });
  }
  return {
    async stop() {
      await boss.stop({ close: false, timeout: STOP_TIMEOUT_MS });
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}

type Fetched = FetchedJob<unknown>;

/**
 * The embedded database belongs to this process alone, so whatever is marked as running was left by one that died. That is
 * seldom the job's fault, so it does not count as one of its attempts; fifty times over it may well be.
 */
const releaseOrphans = (database: Database, names: readonly string[]): Promise<unknown> =>
  database.execute(
    `with held as (
       select name, id, case when retry_limit < 50 then retry_limit + 1 else retry_limit end as retry_limit
         from pgboss.job where state = 'active' and name = any($1::text[]))
     update pgboss.job
        set retry_limit = held.retry_limit,
            state = case when retry_count < held.retry_limit then 'retry' else 'failed' end::pgboss.job_state,
            completed_on = case when retry_count < held.retry_limit then null else pgboss.job_now() end,
            start_after = pgboss.job_now()
       from held where job.name = held.name and job.id = held.id`,
    [names],
  );

/** One that waits for a later moment is called up: the period may be shorter than it was. */
async function enqueueAtStart(database: Database, job: Job, input: unknown): Promise<void> {
  await enqueue(database.orm.em.fork(), job, [input]);
  await database.execute(`update pgboss.job set start_after = pgboss.job_now() where name = $1 and state < 'active'`, [job.name]);
}

/** One bad job must not sink its neighbours: what fails together is repeated one by one. */
async function runIsolated<Ctx>(options: JobsOptions<Ctx>, handler: JobHandler<Ctx>, jobs: Fetched[]): Promise<JobResult[]> {
  try {
    await runOnce(options, handler, jobs);
    return jobs.map(({ id }) => ({ id, status: 'completed' }));
  } catch (error) {
    if (jobs.length > 1) {
      options.logger.warn({ err: error, job: handler.job.name, count: jobs.length }, 'a batch of jobs failed; running them one by one');
      const results: JobResult[] = [];
      for (const job of jobs) results.push(...(await runIsolated(options, handler, [job])));
      return results;
    }
    options.logger.error({ err: error, job: handler.job.name, id: jobs[0]!.id, attempt: jobs[0]!.retryCount + 1 }, 'a job failed');
    return [{ id: jobs[0]!.id, status: 'failed', output: { message: String(error) } }];
  }
}

async function runOnce<Ctx>({ database, makeContext, logger }: JobsOptions<Ctx>, handler: JobHandler<Ctx>, jobs: Fetched[]): Promise<void> {
  let committed = false;
  const commit: Commit = async (effect) => {
    const result = await transaction(database.orm.em.fork(), async (em) => {
      await takeOut(em, handler.job, jobs);
      return effect(em);
    });
    committed = true;
    return result;
  };
  try {
    await handler.run(makeContext(), jobs.map(({ data }) => handler.job.input.parse(data)), commit);
  } catch (error) {
    if (!committed) throw error;
    logger.error({ err: error, job: handler.job.name }, 'a handler failed after it had committed; its jobs are done');
  }
  if (!committed) await commit(async () => {});
}

/** Deletes the jobs, so that done ones do not pile up; the attempt's number tells whether they are still ours. */
async function takeOut(em: EntityManager, job: Job, jobs: readonly Fetched[]): Promise<void> {
  const rows = await query(
    em,
    `delete from pgboss.job using unnest($2::uuid[], $3::int[]) as held(id, retry_count)
      where job.name = $1 and job.id = held.id and job.retry_count = held.retry_count and job.state = 'active'
      returning job.id`,
    [job.name, jobs.map(({ id }) => id), jobs.map(({ retryCount }) => retryCount)],
  );
  if (rows.length < jobs.length) throw new Error(`${jobs.length - rows.length} of ${jobs.length} jobs ${job.name} were taken by another worker meanwhile`);
}
