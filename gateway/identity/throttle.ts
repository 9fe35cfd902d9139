import type { EntityManager } from '@mikro-orm/core';
import { query } from '#platform/database/query.ts';

/** What is guessed at, and how often it may be. */
export interface Throttle {
  readonly subject: string;
  readonly failuresMax: number;
  readonly lockSeconds: number;
}

/**
 * Counts a try before it is judged, so that parallel guesses cannot slip past each other: the row stays locked until the
 * transaction ends. Answers null when the try may be judged, else the seconds until the lock opens. The last permitted try
 * locks in advance; a right one opens again by `forgive`.
 */
export async function countTry(em: EntityManager, { subject, failuresMax, lockSeconds }: Throttle, now: Date): Promise<number | null> {
  const [row] = await query<{ count: number; locked_until: Date | null }>(em, countOne, [subject, now, failuresMax, lockSeconds]);
  // A try that waited for the row may have begun before the one that locked it.
  return row!.count <= failuresMax ? null : Math.min(lockSeconds, (row!.locked_until!.getTime() - now.getTime()) / 1000);
}

export const forgive = (em: EntityManager, subject: string): Promise<unknown> => query(em, 'delete from identity.failure where subject = $1', [subject]);

const countOne = `
  insert into identity.failure as known (subject, count, counted_since, locked_until)
  values ($1, 1, $2, case when $3::int = 1 then $2::timestamptz + $4::float8 * interval '1s' end)
  on conflict (subject) do update set (count, counted_since, locked_until) = (
    select count, since, coalesce(case when known.locked_until > $2 then known.locked_until end, case when count >= $3::int then $2::timestamptz + $4::float8 * interval '1s' end)
      from (select case when known.locked_until > $2 then $3::int + 1 when is_over then 1 else known.count + 1 end as count,
                   case when is_over then $2::timestamptz else known.counted_since end as since
              from (select known.counted_since <= $2::timestamptz - $4::float8 * interval '1s' or known.locked_until <= $2 as is_over)))
  returning count, locked_until`;
