import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { notFound } from '#platform/errors.ts';
import { command } from '#platform/operation.ts';
import { newSecret, secretText } from '#platform/webhooks/signature.ts';
import { rotateSecret } from '#platform/webhooks/webhooks.ts';

export interface RotationReceipt {
  readonly id: string;
  readonly secret: string;
  /** Until then the old secret signs too. */
  readonly oldSecretUntil: string;
}

export const rotateWebhookSecret = command({
  name: 'rotateWebhookSecret',
  requires: 'vaultAdmin',
  input: z.strictObject({ id: z.string() }),
  run: async (ctx: Context, { id }): Promise<RotationReceipt> => {
    const secret = newSecret();
    const until = new Date(ctx.clock.now().getTime() + ctx.config.webhookRotationSeconds * 1000);
    if (!(await rotateSecret(ctx.em, ctx.principal!, id, secret, until))) throw notFound('webhook', id);
    return { id, secret: secretText(secret), oldSecretUntil: until.toISOString() };
  },
});
