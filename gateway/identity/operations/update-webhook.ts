import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { notFound } from '#platform/errors.ts';
import { command } from '#platform/operation.ts';
import { WebhookState } from '#platform/webhooks/webhook.ts';
import type { Webhook } from '#platform/webhooks/webhook.ts';
import { changeWebhook } from '#platform/webhooks/webhooks.ts';
import { checkTarget, webhookInput } from '../webhook-input.ts';

const { url, events, description } = webhookInput;

export const updateWebhook = command({
  name: 'updateWebhook',
  requires: 'vaultAdmin',
  input: z
    .strictObject({ id: z.string(), url: url.optional(), events: events.optional(), description, state: z.enum(WebhookState).optional() })
    .refine(({ id: _id, ...patch }) => Object.values(patch).some((value) => value !== undefined), 'must change url, events, description or state'),
  prepare: async (ctx: Context, patch) => {
    if (patch.url !== undefined) await checkTarget(ctx, patch.url);
  },
  run: async (ctx: Context, { id, ...patch }): Promise<Webhook> => {
    const webhook = await changeWebhook(ctx.em, ctx.principal!, id, patch);
    if (webhook === null) throw notFound('webhook', id);
    return webhook;
  },
});
