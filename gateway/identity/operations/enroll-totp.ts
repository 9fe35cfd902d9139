import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { query } from '#platform/database/query.ts';
import { DomainError } from '#platform/errors.ts';
import { command } from '#platform/operation.ts';
import { base32Of, newRecoveryCodes, newTotpSecret, otpauthUri, recoveryDigest } from '../totp.ts';

/** Shown once. It counts from the first right code on (confirmTotp). */
export interface EnrollTotpReceipt {
  readonly otpauthUri: string;
  readonly secret: string;
  readonly recoveryCodes: string[];
}

/** Begins to enrol an authenticator. The one before counts until the new one is confirmed, and only who holds it may replace it. */
export const enrollTotp = command({
  name: 'enrollTotp',
  requires: 'session',
  input: z.strictObject({}),
  run: async (ctx: Context): Promise<EnrollTotpReceipt> => {
    const { userId, steppedUpUntilMs } = ctx.principal!;
    const [user] = await query<{ email: string; is_enrolled: boolean }>(
      ctx.em,
      `select email, confirmed_at is not null as is_enrolled from identity.user left join identity.totp on totp.user_id = "user".id where "user".id = $1`,
      [userId],
    );
    if (user!.is_enrolled && (steppedUpUntilMs ?? 0) <= ctx.clock.now().getTime()) {
      throw new DomainError('totp_required', 'You have an authenticator; replacing it needs a code of it, or a recovery code: POST /auth/sessions/totp.');
    }
    const secret = newTotpSecret();
    const recoveryCodes = newRecoveryCodes();
    await query(
      ctx.em,
      `insert into identity.totp (user_id, pending_secret, pending_recovery_digests) values ($1, $2, $3)
       on conflict (user_id) do update set pending_secret = excluded.pending_secret, pending_recovery_digests = excluded.pending_recovery_digests`,
      [userId, secret, recoveryCodes.map((code) => recoveryDigest(userId!, code))],
    );
    return { otpauthUri: otpauthUri(secret, user!.email), secret: base32Of(secret), recoveryCodes };
  },
});
