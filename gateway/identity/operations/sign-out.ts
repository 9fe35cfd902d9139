import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { query } from '#platform/database/query.ts';
import { command } from '#platform/operation.ts';
import { identityChanged } from '../identity-changed.ts';

export interface SignOutReceipt {
  readonly id: string;
  readonly status: 'ended';
  readonly endedAt: string;
}

/** Ends the session that asks. */
export const signOut = command({
  name: 'signOut',
  requires: 'session',
  input: z.strictObject({}),
  run: async (ctx: Context): Promise<SignOutReceipt> => {
    const { credentialId } = ctx.principal!;
    await query(ctx.em, 'delete from identity.session where id = $1', [credentialId]);
    await identityChanged(ctx.em);
    return { id: credentialId, status: 'ended', endedAt: ctx.clock.now().toISOString() };
  },
});
