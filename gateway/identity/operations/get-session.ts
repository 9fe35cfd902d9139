import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { query as select } from '#platform/database/query.ts';
import { query } from '#platform/operation.ts';
import { signedInUser } from './sign-in.ts';
import type { SignedInUser } from './sign-in.ts';

export interface CurrentSession {
  readonly id: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Null when no code was given, or its time is over. */
  readonly steppedUpUntil: Date | null;
  readonly totpRequired: boolean;
  readonly user: SignedInUser;
}

/** Who is asking, and for how long. */
export const getSession = query({
  name: 'getSession',
  requires: 'session',
  input: z.strictObject({}),
  run: async (ctx: Context): Promise<CurrentSession> => {
    const { credentialId, userId } = ctx.principal!;
    const [row] = await select<Omit<CurrentSession, 'user'>>(
      ctx.em,
      `select session.id, session.created_at as "createdAt", expires_at as "expiresAt",
              case when stepped_up_until > $2 then stepped_up_until end as "steppedUpUntil", totp.confirmed_at is not null as "totpRequired"
         from identity.session left join identity.totp on totp.user_id = session.user_id where session.id = $1`,
      [credentialId, ctx.clock.now()],
    );
    return { ...row!, user: await signedInUser(ctx, userId!) };
  },
});
