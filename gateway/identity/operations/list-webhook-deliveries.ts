import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { query } from '#platform/operation.ts';
import { pageInput, pageOf } from '#platform/page.ts';
import type { Page } from '#platform/page.ts';
import { deliverySource } from '#platform/webhooks/deliveries.ts';
import { DeliveryState } from '#platform/webhooks/webhook.ts';
import type { Delivery } from '#platform/webhooks/webhook.ts';
import { managedWebhook } from './get-webhook.ts';

export const listWebhookDeliveries = query({
  name: 'listWebhookDeliveries',
  requires: 'vaultAdmin',
  input: z.strictObject({ ...pageInput, id: z.string(), state: z.enum(DeliveryState).nullish() }),
  run: async (ctx: Context, { id, state = null, ...page }): Promise<Page<Delivery>> => {
    const webhook = await managedWebhook(ctx, id);
    return pageOf(ctx, ['listWebhookDeliveries', webhook.id, state], page, { byDefault: 50, max: 1000 }, deliverySource(ctx.em, webhook.id, state));
  },
});
