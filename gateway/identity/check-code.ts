import type { EntityManager } from '@mikro-orm/core';
import type { Context } from '#platform/context.ts';
import { query } from '#platform/database/query.ts';
import { transaction } from '#platform/database/transaction.ts';
import { DomainError } from '#platform/errors.ts';
import { countTry, forgive } from './throttle.ts';
import { recoveryDigest, stepOfCode } from './totp.ts';

/** Throws what `judgeCode` refuses; for callers outside of a transaction. */
export async function checkCode(ctx: Context, userId: string, code: string): Promise<void> {
  const refusal = await transaction(ctx.em, (em) => judgeCode({ ...ctx, em }, userId, code));
  if (refusal !== null) throw refusal;
}

/**
 * Whether this is a fresh code of the user's authenticator, or an unused recovery code: each counts once. Answers the
 * refusal instead of throwing it, so that the transaction which counted the try commits.
 */
export const judgeCode = (ctx: Context, userId: string, code: string): Promise<DomainError | null> => judge(ctx, userId, () => useCode(ctx.em, userId, code, ctx.clock.now()));

/** The same for the first code of an authenticator that is being enrolled, which replaces the one before. */
export const judgeFirstCode = (ctx: Context, userId: string, code: string): Promise<DomainError | null> => judge(ctx, userId, () => confirm(ctx.em, userId, code, ctx.clock.now()));

async function judge({ em, config, clock }: Context, userId: string, isRight: () => Promise<boolean>): Promise<DomainError | null> {
  const subject = `code ${userId}`;
  const lockedSeconds = await countTry(em, { subject, failuresMax: config.totpFailuresMax, lockSeconds: config.totpLockSeconds }, clock.now());
  if (lockedSeconds !== null) {
    return new DomainError('totp_locked', 'Too many wrong codes; wait before the next one.', { retry_after_seconds: Math.ceil(lockedSeconds) });
  }
  if (!(await isRight())) return new DomainError('totp_invalid', 'The code is wrong or was used before; wait for the next one your authenticator shows.');
  await forgive(em, subject);
  return null;
}

async function useCode(em: EntityManager, userId: string, code: string, now: Date): Promise<boolean> {
  const [enrolled] = await query<{ secret: Buffer }>(em, 'select secret from identity.totp where user_id = $1 and confirmed_at is not null for update', [userId]);
  if (!enrolled) return false;
  const step = stepOfCode(enrolled.secret, code, now);
  const used =
    step === null
      ? await query(em, 'update identity.recovery_code set used_at = $3 where user_id = $1 and digest = $2 and used_at is null returning user_id', [userId, recoveryDigest(userId, code), now])
      : await query(em, 'update identity.totp set last_step = $2 where user_id = $1 and last_step < $2 returning user_id', [userId, step]);
  return used.length > 0;
}

async function confirm(em: EntityManager, userId: string, code: string, now: Date): Promise<boolean> {
  const [pending] = await query<{ secret: Buffer }>(em, 'select pending_secret as secret from identity.totp where user_id = $1 and pending_secret is not null for update', [userId]);
  const step = pending ? stepOfCode(pending.secret, code, now) : null;
  if (step === null) return false;
  await query(em, 'delete from identity.recovery_code where user_id = $1', [userId]);
  await query(em, 'insert into identity.recovery_code (user_id, digest) select user_id, unnest(pending_recovery_digests) from identity.totp where user_id = $1', [userId]);
  await query(
    em,
    `update identity.totp set secret = pending_secret, confirmed_at = $2, last_step = $3, pending_secret = null, pending_recovery_digests = null where user_id = $1`,
    [userId, now, step],
  );
  return true;
}
