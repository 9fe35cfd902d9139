import { PgBoss } from 'pg-boss';
import type { ConstructorOptions, QueueOptions } from 'pg-boss';
import type { Database } from '../database/database.ts';
import type { Job } from './job.ts';

const RETRY_DELAY_MAX_SECONDS = 3600;
const FAILED_KEPT_SECONDS = 14 * 86_400;

/** Makes pg-boss's tables and a queue for each job. Every process that enqueues does this at start, after the migrations. */
export async function installJobs(database: Database, jobs: readonly Job[]): Promise<void> {
  // pg-boss expects to lose this race with "already exists"; two that create the schema at once end in a unique violation instead.
  await database.execute(`begin; select pg_advisory_xact_lock(1885826916); create schema if not exists pgboss; commit`);
  const boss = await startBoss(database, { supervise: false, schedule: false });
  for (const job of jobs) {
    await boss.createQueue(job.name, { policy: job.exclusive ? 'exclusive' : 'standard', notify: true });
    await boss.updateQueue(job.name, queueOptions(database, job));
  }
  await boss.stop({ close: false });
}

export async function startBoss(database: Database, options: ConstructorOptions): Promise<PgBoss> {
  const boss = new PgBoss({ db: database.bossDatabase, backend: database.engine === 'embedded' ? 'pglite' : 'postgres', schema: 'pgboss', ...options });
  return boss.start();
}

/** How soon a server notices that a process died with jobs in hand. Ten is the least pg-boss allows. */
export const HEARTBEAT_SECONDS = 10;

const queueOptions = (database: Database, job: Job): QueueOptions => ({
  retryLimit: job.retryLimit,
  retryDelay: job.retryDelaySeconds,
  retryBackoff: true,
  retryDelayMax: RETRY_DELAY_MAX_SECONDS,
  expireInSeconds: job.expireInSeconds,
  deleteAfterSeconds: FAILED_KEPT_SECONDS,
  ...(database.engine === 'server' && { heartbeatSeconds: HEARTBEAT_SECONDS }),
});
