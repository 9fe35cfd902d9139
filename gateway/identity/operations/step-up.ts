import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { query } from '#platform/database/query.ts';
import { DomainError } from '#platform/errors.ts';
import { command } from '#platform/operation.ts';
import { judgeCode } from '../check-code.ts';

export interface StepUpReceipt {
  readonly steppedUpUntil: string;
}

export const codeInput = z.strictObject({ code: z.string().trim().min(1).max(20) });

/** A code of the authenticator, or a recovery code, lifts the session above its password for a while. */
export const stepUp = command({
  name: 'stepUp',
  requires: 'session',
  input: codeInput,
  run: async (ctx: Context, { code }): Promise<StepUpReceipt | DomainError> => {
    const { userId, credentialId } = ctx.principal!;
    const [enrolled] = await query(ctx.em, 'select user_id from identity.totp where user_id = $1 and confirmed_at is not null', [userId]);
    if (!enrolled) throw new DomainError('invalid_transition', 'You have no authenticator yet: enrol one with POST /auth/totp, then POST /auth/totp/confirm.');
    return (await judgeCode(ctx, userId!, code)) ?? lift(ctx, credentialId);
  },
});

export async function lift(ctx: Context, sessionId: string): Promise<StepUpReceipt> {
  const until = new Date(ctx.clock.now().getTime() + ctx.config.stepUpTtlSeconds * 1000);
  await query(ctx.em, 'update identity.session set stepped_up_until = $2 where id = $1', [sessionId, until]);
  return { steppedUpUntil: until.toISOString() };
}
