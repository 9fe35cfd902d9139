import type { Context } from '#platform/context.ts';
import { query } from '#platform/database/query.ts';

/** Codes, tokens and grants past their time; clients have none. */
export async function forgetOauthRecords({ em, clock }: Pick<Context, 'em' | 'clock'>): Promise<void> {
  await query(em, 'delete from identity.oauth_record where expires_at < $1', [clock.now()]);
}
