import { z } from 'zod';
import { auditEntry, recordAudit } from '#platform/audit/record-audit.ts';
import type { Context } from '#platform/context.ts';
import { query } from '#platform/database/query.ts';
import { newId } from '#platform/ids.ts';
import { command } from '#platform/operation.ts';
import { checkPassword } from '../check-password.ts';
import { digestOf, newToken } from '../tokens.ts';

/** The only time that the token itself is seen. */
export interface SignInReceipt {
  readonly sessionId: string;
  readonly token: string;
  readonly expiresAt: string;
  /** What needs a step-up asks this user for a code: POST /auth/sessions/totp. */
  readonly totpRequired: boolean;
  readonly user: SignedInUser;
}

export interface SignedInUser {
  readonly id: string;
  readonly numericId: number;
  readonly email: string;
  readonly name: string;
  readonly organizationId: string;
  readonly organizationRole: string | null;
}

export const signIn = command({
  name: 'signIn',
  requires: 'public',
  input: z.strictObject({ email: z.string().min(1).max(320), password: z.string().min(1).max(1000) }),
  prepare: checkPassword,
  run: async (ctx: Context, _input, { userId, isTotpEnrolled }): Promise<SignInReceipt> => {
    const now = ctx.clock.now();
    const token = newToken('qs');
    const sessionId = newId('session');
    const expiresAt = new Date(now.getTime() + ctx.config.sessionTtlSeconds * 1000);
    await query(ctx.em, insertSession, [sessionId, userId, digestOf(token), ctx.client?.address ?? null, ctx.client?.userAgent ?? null, now, expiresAt]);
    const user = await signedInUser(ctx, userId);
    await recordAudit(ctx.em, [auditEntry(ctx, { operation: 'signIn', subjectIds: [sessionId] }, { organizationId: user.organizationId, userId })], now);
    return { sessionId, token, expiresAt: expiresAt.toISOString(), totpRequired: isTotpEnrolled, user };
  },
});

export async function signedInUser(ctx: Context, userId: string): Promise<SignedInUser> {
  const [user] = await query<SignedInUser>(
    ctx.em,
    `select id, numeric_id as "numericId", email, name, organization_id as "organizationId", organization_role as "organizationRole" from identity.user where id = $1`,
    [userId],
  );
  return user!;
}

export const insertSession = `
  insert into identity.session (id, user_id, digest, address, user_agent, created_at, last_used_at, expires_at)
  values ($1, $2, $3, $4, $5, $6, $6, $7)`;
