import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { command } from '#platform/operation.ts';
import { queueReplay } from '#platform/webhooks/deliveries.ts';
import { enabledWebhook } from './get-webhook.ts';

export interface ReplayReceipt {
  readonly id: string;
  readonly since: string;
  readonly all: boolean;
}

/** Queues, in the background, what happened since then and was never delivered to this webhook; or all of it. */
export const replayWebhook = command({
  name: 'replayWebhook',
  requires: 'vaultAdmin',
  input: z.strictObject({ id: z.string(), since: z.date(), all: z.boolean().nullish() }),
  run: async (ctx: Context, { id, since, all }): Promise<ReplayReceipt> => {
    const isAll = all ?? false;
    await queueReplay(ctx.em, await enabledWebhook(ctx, id), since, isAll);
    return { id, since: since.toISOString(), all: isAll };
  },
});
