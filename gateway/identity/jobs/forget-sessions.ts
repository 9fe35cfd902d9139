import type { Context } from '#platform/context.ts';
import { query } from '#platform/database/query.ts';

/** Sessions past their time, and failures too old to count. */
export async function forgetSessions({ em, clock, config }: Pick<Context, 'em' | 'clock' | 'config'>): Promise<void> {
  const now = clock.now();
  await query(em, 'delete from identity.session where expires_at < $1', [now]);
  const counted = new Date(now.getTime() - Math.max(config.signInLockSeconds, config.totpLockSeconds) * 1000);
  await query(em, 'delete from identity.failure where counted_since < $1 and (locked_until is null or locked_until < $2)', [counted, now]);
}
