import type { Context } from '#platform/context.ts';
import { query } from '#platform/database/query.ts';
import { processingOf } from '../entities/memory-object.ts';
import type { MemoryObject, MemoryProcessing } from '../entities/memory-object.ts';

export async function processingOfObject(ctx: Context, object: MemoryObject): Promise<MemoryProcessing> {
  const [row] = await query<{ entities: string[] }>(ctx.em, 'select entities from memory.processing where object_id = $1 and seq = $2', [object.id, object.seq]);
  return processingOf(row?.entities ?? null);
}
