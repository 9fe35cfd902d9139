import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { query } from '#platform/database/query.ts';
import { command } from '#platform/operation.ts';
import { checkPassword } from '../check-password.ts';
import { identityChanged } from '../identity-changed.ts';
import { hashPassword } from '../password.ts';
import { signedInUser } from './sign-in.ts';

export interface ChangePasswordReceipt {
  readonly changedAt: string;
  /** So many other sessions of the user have ended. */
  readonly sessionsEnded: number;
}

/** A new password, for who knows the present one. All other sessions of the user end. */
export const changePassword = command({
  name: 'changePassword',
  requires: 'session',
  input: z.strictObject({ currentPassword: z.string().min(1).max(1000), newPassword: z.string().min(12, 'must have 12 characters or more').max(1000) }),
  prepare: async (ctx: Context, { currentPassword, newPassword }) => {
    const { email } = await signedInUser(ctx, ctx.principal!.userId!);
    await checkPassword(ctx, { email, password: currentPassword });
    return hashPassword(newPassword);
  },
  run: async (ctx, _input, passwordHash): Promise<ChangePasswordReceipt> => {
    const { userId, credentialId } = ctx.principal!;
    await query(ctx.em, 'update identity.user set password_hash = $2 where id = $1', [userId, passwordHash]);
    const ended = await query(ctx.em, 'delete from identity.session where user_id = $1 and id <> $2 returning id', [userId, credentialId]);
    await identityChanged(ctx.em);
    return { changedAt: ctx.clock.now().toISOString(), sessionsEnded: ended.length };
  },
});
