import type { Context } from '#platform/context.ts';
import { query } from '#platform/database/query.ts';
import { DomainError } from '#platform/errors.ts';
import { command } from '#platform/operation.ts';
import { judgeFirstCode } from '../check-code.ts';
import { codeInput, lift } from './step-up.ts';

export interface ConfirmTotpReceipt {
  readonly confirmedAt: string;
  /** The first code steps the session up, as any other does. */
  readonly steppedUpUntil: string;
}

/** The first right code makes the authenticator count, and its recovery codes with it. */
export const confirmTotp = command({
  name: 'confirmTotp',
  requires: 'session',
  input: codeInput,
  run: async (ctx: Context, { code }): Promise<ConfirmTotpReceipt | DomainError> => {
    const { userId, credentialId } = ctx.principal!;
    const [pending] = await query(ctx.em, 'select user_id from identity.totp where user_id = $1 and pending_secret is not null', [userId]);
    if (!pending) throw new DomainError('invalid_transition', 'There is nothing to confirm: begin with POST /auth/totp.');
    const refusal = await judgeFirstCode(ctx, userId!, code);
    return refusal ?? { confirmedAt: ctx.clock.now().toISOString(), ...(await lift(ctx, credentialId)) };
  },
});
