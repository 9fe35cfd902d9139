import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { query } from '#platform/database/query.ts';
import { DomainError } from '#platform/errors.ts';
import { newId } from '#platform/ids.ts';
import { command } from '#platform/operation.ts';
import { hashPassword, newPassword } from '../password.ts';

/** The only time that the password is seen; the user changes it with POST /auth/password. */
export interface UserReceipt {
  readonly id: string;
  readonly numericId: number;
  readonly email: string;
  readonly name: string;
  readonly organizationRole: string | null;
  readonly createdAt: string;
  readonly password: string;
}

/** A new person in the organization; only a Sovereign gives roles in it. Workspaces are joined with setMember. */
export const createUser = command({
  name: 'createUser',
  requires: 'architect',
  input: z.strictObject({
    email: z.email('must be an e-mail address').max(320),
    name: z.string().trim().min(1, 'must not be blank').max(200),
    organizationRole: z.enum(['architect', 'sovereign']).nullish(),
  }),
  prepare: async (ctx: Context, { organizationRole }) => {
    if (organizationRole != null && ctx.principal!.organizationRole !== 'sovereign') {
      throw new DomainError('permission_denied', 'Only a Sovereign makes an Architect or a Sovereign.');
    }
    const password = newPassword();
    return { password, passwordHash: await hashPassword(password) };
  },
  run: async (ctx, { email, name, organizationRole = null }, { password, passwordHash }): Promise<UserReceipt> => {
    const now = ctx.clock.now();
    const id = newId('user');
    const [made] = await query<{ numeric_id: number }>(ctx.em, insertUser, [id, ctx.principal!.organizationId, email, name, organizationRole, passwordHash, now]);
    if (!made) throw new DomainError('already_exists', `There is a user with the e-mail address '${email}' already.`);
    return { id, numericId: made.numeric_id, email, name, organizationRole, createdAt: now.toISOString(), password };
  },
});

export const insertUser = `
  insert into identity.user (id, organization_id, email, name, organization_role, password_hash, created_at)
  values ($1, $2, $3, $4, $5, $6, $7) on conflict (lower(email)) do nothing returning numeric_id`;
