import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { notFound } from '#platform/errors.ts';
import { command } from '#platform/operation.ts';
import { removeWebhook } from '#platform/webhooks/webhooks.ts';

export interface DeletedReceipt {
  readonly id: string;
  readonly status: 'deleted';
  readonly deletedAt: string;
}

/** What was under way to it is not sent any more. */
export const deleteWebhook = command({
  name: 'deleteWebhook',
  requires: 'vaultAdmin',
  input: z.strictObject({ id: z.string() }),
  run: async (ctx: Context, { id }): Promise<DeletedReceipt> => {
    if (!(await removeWebhook(ctx.em, ctx.principal!, id))) throw notFound('webhook', id);
    return { id, status: 'deleted', deletedAt: ctx.clock.now().toISOString() };
  },
});
