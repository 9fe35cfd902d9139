import type { EntityManager } from '@mikro-orm/core';
import type { z } from 'zod';
import { query } from '../database/query.ts';

/** A named piece of work to be done later. Who wants it done imports this alone; the handler stands in another file. */
export interface Job<Schema extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly input: Schema;
  /** How often a job is tried again; the pause doubles from `retryDelaySeconds` up to an hour. Then it is kept as failed for 14 days. */
  readonly retryLimit: number;
  readonly retryDelaySeconds: number;
  /** A run that takes longer is given up and tried again. */
  readonly expireInSeconds: number;
  /** Only one of this name waits or runs at a time; another one is dropped. */
  readonly exclusive: boolean;
}

type Optional = 'retryLimit' | 'retryDelaySeconds' | 'expireInSeconds' | 'exclusive';

export const defineJob = <Schema extends z.ZodType>(definition: Omit<Job<Schema>, Optional> & Partial<Pick<Job<Schema>, Optional>>): Job<Schema> => ({
  retryLimit: 5,
  retryDelaySeconds: 1,
  expireInSeconds: 900,
  exclusive: false,
  ...definition,
});

export interface EnqueueOptions {
  /** Higher runs first; 0 by default. */
  readonly priority?: number;
  /** A moment, or seconds from now by the database's clock. */
  readonly startAfter?: Date | number;
}

/**
 * Puts jobs into the queue in the transaction of `em`: they exist exactly when what caused them does. The statement is ours,
 * and prepared: pg-boss's own `insert` reads its queue cache through another connection, which waits for ever while the
 * embedded database's only session is in this transaction. It writes what pg-boss 12.35's `insertJobs` writes, notification included.
 */
export async function enqueue<Schema extends z.ZodType>(em: EntityManager, job: Job<Schema>, inputs: readonly z.input<Schema>[], options: EnqueueOptions = {}): Promise<void> {
  if (inputs.length === 0) return;
  const { priority = 0, startAfter = 0 } = options;
  const [seconds, moment] = typeof startAfter === 'number' ? [startAfter, null] : [0, startAfter];
  const [row] = await query<{ queues: number }>(
    em,
    `with queue as (select *, coalesce($4::timestamptz, pgboss.job_now() + $5::float8 * interval '1s') as start_after from pgboss.queue where name = $1),
          inserted as (
            insert into pgboss.job (name, data, priority, start_after, created_on, expire_seconds, deletion_seconds, keep_until,
                                    retry_limit, retry_delay, retry_backoff, retry_delay_max, policy, heartbeat_seconds)
            select name, data, $3::int, start_after, pgboss.job_now(), expire_seconds, deletion_seconds, start_after + retention_seconds * interval '1s',
                   retry_limit, retry_delay, retry_backoff, retry_delay_max, policy, heartbeat_seconds
              from queue, jsonb_array_elements($2::jsonb) as data
            on conflict do nothing
            returning start_after),
          notified as (
            select pg_notify('pgboss_' || left(encode(sha224('pgboss'), 'hex'), 24), $1) from inserted where start_after <= pgboss.job_now() limit 1)
     select count(*) as queues, (select count(*) from notified) as notified from queue`,
    [job.name, JSON.stringify(inputs.map((input) => job.input.parse(input))), priority, moment, seconds],
  );
  if (row!.queues === 0) throw new Error(`There is no queue for jobs of the name ${job.name}; it is made by installJobs.`);
}
