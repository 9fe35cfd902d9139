import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { DomainError, notFound } from '#platform/errors.ts';
import { query } from '#platform/operation.ts';
import { WebhookState } from '#platform/webhooks/webhook.ts';
import type { Webhook } from '#platform/webhooks/webhook.ts';
import { findWebhook } from '#platform/webhooks/webhooks.ts';

export const getWebhook = query({
  name: 'getWebhook',
  requires: 'vaultAdmin',
  input: z.strictObject({ id: z.string() }),
  run: (ctx: Context, { id }): Promise<Webhook> => managedWebhook(ctx, id),
});

/** What the caller does not manage is not found. */
export async function managedWebhook(ctx: Context, id: string): Promise<Webhook> {
  const webhook = await findWebhook(ctx.em, ctx.principal!, id);
  if (webhook === null) throw notFound('webhook', id);
  return webhook;
}

/** For what is to be delivered now. */
export async function enabledWebhook(ctx: Context, id: string): Promise<Webhook> {
  const webhook = await managedWebhook(ctx, id);
  if (webhook.state !== WebhookState.ENABLED) throw new DomainError('invalid_transition', 'This webhook is disabled; enable it first.');
  return webhook;
}
