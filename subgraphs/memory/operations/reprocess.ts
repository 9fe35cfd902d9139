import type { Context } from '#platform/context.ts';
import { query } from '#platform/database/query.ts';
import { processingOf } from '../entities/memory-object.ts';
import type { MemoryObject } from '../entities/memory-object.ts';
import type { MemoryPorts } from '../ports/ports.ts';
import { forgetPassages } from '../queries/forget-passages.ts';
import { enqueueProcessing } from './store-objects.ts';

/** Writes the object with a new content number, so that whatever was made of it before counts no more, and has it made anew. */
export async function reprocess(ctx: Context<MemoryPorts>, object: MemoryObject): Promise<void> {
  const [row] = await query<{ seq: number }>(ctx.em, "select nextval('memory.content_seq') as seq");
  object.seq = row!.seq;
  object.processing = processingOf(null);
  await ctx.em.flush();
  await forgetPassages(ctx.em, [object.id]);
  await enqueueProcessing(ctx.em, [object]);
}
