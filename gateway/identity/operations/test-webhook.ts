import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { command } from '#platform/operation.ts';
import { queueTest } from '#platform/webhooks/deliveries.ts';
import type { Delivery } from '#platform/webhooks/webhook.ts';
import { enabledWebhook } from './get-webhook.ts';

/** Sends a `webhook.test` message, whatever the webhook listens for. */
export const testWebhook = command({
  name: 'testWebhook',
  requires: 'vaultAdmin',
  input: z.strictObject({ id: z.string() }),
  run: async (ctx: Context, { id }): Promise<Delivery> => {
    const webhook = await enabledWebhook(ctx, id);
    return queueTest(ctx.em, webhook, { organizationId: ctx.principal!.organizationId, now: ctx.clock.now() });
  },
});
