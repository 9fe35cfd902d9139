import { createHash } from 'node:crypto';
import { auditEntry, recordAudit } from '#platform/audit/record-audit.ts';
import type { Context } from '#platform/context.ts';
import { query } from '#platform/database/query.ts';
import { transaction } from '#platform/database/transaction.ts';
import { DomainError } from '#platform/errors.ts';
import { isPassword } from './password.ts';
import { countTry, forgive } from './throttle.ts';
import type { Throttle } from './throttle.ts';

export interface Account {
  readonly userId: string;
  readonly organizationId: string;
  /** The user has an authenticator: a code can step the session up. */
  readonly isTotpEnrolled: boolean;
}

/** An address stands for many people (an office, a proxy), so it gets more tries than an account. */
const triesPerAddress = 10;

/**
 * The account with this e-mail address and password. Too many tries at an account or from an address are
 * `rate_limit_exceeded`; otherwise whatever is wrong is `unauthenticated`, in the same words and the same time, whether the
 * account exists or not. Hashing takes 30 ms, so it happens between two transactions: call it outside of one.
 */
export async function checkPassword(ctx: Context, { email, password }: { email: string; password: string }): Promise<Account> {
  const { signInFailuresMax: failuresMax, signInLockSeconds: lockSeconds } = ctx.config;
  const account: Throttle = { subject: `account ${createHash('sha256').update(email.toLowerCase()).digest('hex')}`, failuresMax, lockSeconds };
  const address: Throttle = { subject: `address ${ctx.client?.address ?? 'unknown'}`, failuresMax: failuresMax * triesPerAddress, lockSeconds };
  const found = await transaction(ctx.em, async (em) => {
    // Always in this order, so that two who sign in at once do not wait for each other; who hammers at one locked account does not lock the address.
    for (const throttle of [account, address]) {
      const lockedSeconds = await countTry(em, throttle, ctx.clock.now());
      if (lockedSeconds !== null) return tooMany(lockedSeconds);
    }
    const [row] = await query<AccountRow>(em, accountByEmail, [email]);
    return row ?? null;
  });
  if (found instanceof DomainError) throw found;
  if (!(await isPassword(password, found?.password_hash ?? null)) || found === null) {
    if (found !== null) await recordAudit(ctx.em, [auditEntry(ctx, { operation: 'signIn', subjectIds: [], outcome: 'unauthenticated' }, { organizationId: found.organization_id, userId: found.id })], ctx.clock.now());
    throw new DomainError('unauthenticated', 'The e-mail address or the password is wrong.');
  }
  await transaction(ctx.em, async (em) => {
    await query(em, 'update identity.failure set count = count - 1, locked_until = null where subject = $1 and count > 1', [address.subject]);
    await forgive(em, account.subject);
  });
  return { userId: found.id, organizationId: found.organization_id, isTotpEnrolled: found.is_totp_enrolled };
}

const tooMany = (lockedSeconds: number): DomainError =>
  new DomainError('rate_limit_exceeded', 'Too many tries to sign in; wait before the next one.', { retry_after_seconds: Math.ceil(lockedSeconds) });

interface AccountRow {
  readonly id: string;
  readonly organization_id: string;
  readonly password_hash: string | null;
  readonly is_totp_enrolled: boolean;
}

const accountByEmail = `
  select "user".id, organization_id, password_hash, totp.confirmed_at is not null as is_totp_enrolled
    from identity.user left join identity.totp on totp.user_id = "user".id
   where lower(email) = lower($1)`;
