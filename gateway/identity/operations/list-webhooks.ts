import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { query } from '#platform/operation.ts';
import { pageInput, pageOf } from '#platform/page.ts';
import type { Page } from '#platform/page.ts';
import type { Webhook } from '#platform/webhooks/webhook.ts';
import { webhookSource } from '#platform/webhooks/webhooks.ts';

export const listWebhooks = query({
  name: 'listWebhooks',
  requires: 'vaultAdmin',
  input: z.strictObject(pageInput),
  run: (ctx: Context, input): Promise<Page<Webhook>> =>
    pageOf(ctx, ['listWebhooks', ctx.principal!.credentialId], input, { byDefault: 25, max: 100 }, webhookSource(ctx.em, ctx.principal!)),
});
