import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { notFound } from '#platform/errors.ts';
import { command } from '#platform/operation.ts';
import { redeliver } from '#platform/webhooks/deliveries.ts';
import type { Delivery } from '#platform/webhooks/webhook.ts';
import { enabledWebhook } from './get-webhook.ts';

/** Sends a message once more, under its old `webhook-id`. */
export const redeliverWebhook = command({
  name: 'redeliverWebhook',
  requires: 'vaultAdmin',
  input: z.strictObject({ id: z.string(), deliveryId: z.string() }),
  run: async (ctx: Context, { id, deliveryId }): Promise<Delivery> => {
    const webhook = await enabledWebhook(ctx, id);
    const delivery = await redeliver(ctx.em, webhook.id, deliveryId, ctx.clock.now());
    if (delivery === null) throw notFound('delivery', deliveryId);
    return delivery;
  },
});
