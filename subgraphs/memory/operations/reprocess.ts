import type { Context } from '#platform/context.ts';
import { query } from '#platform/database/query.ts';
import { processingOf } from '../entities/memory-object.ts';
import type { MemoryObject } from '../entities/memory-object.ts';
import type { MemoryPorts } from '../ports/ports.ts';
import { forgetPassages } from '../queries/forget-passages.ts';
import { refusalsOfCompute, refuseExcess } from './quotas.ts';
import { enqueueProcessing } from './store-objects.ts';

/**
 * Writes the object with a new content number, so that whatever was made of it before counts no more, and has it made anew.
 * `grows`: whether it takes more of the stored bytes than before.
 */
export async function reprocess(ctx: Context<MemoryPorts>, object: MemoryObject, { grows }: { grows: boolean }): Promise<void> {
  const idle = (await refusalsOfCompute(ctx.em, ctx.config, [object.organizationId], ctx.clock.now())).get(object.organizationId);
  if (idle !== undefined) throw idle;
  const [row] = await query<{ seq: number }>(ctx.em, "select nextval('memory.content_seq') as seq");
  object.seq = row!.seq;
  object.processing = processingOf(null);
  await ctx.em.flush();
  if (grows) await refuseExcess(ctx, object.organizationId);
  await forgetPassages(ctx.em, [object.id]);
  await enqueueProcessing(ctx.em, [object]);
}
