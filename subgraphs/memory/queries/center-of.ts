import type { EntityManager } from '@mikro-orm/core';
import { query } from '#platform/database/query.ts';

/** The mean of an object's passages; null while it has none. */
export async function centerOf(em: EntityManager, objectId: string, model: string): Promise<Float32Array | null> {
  const [row] = await query<{ center: string | null }>(
    em,
    'select l2_normalize(avg(embedding))::text as center from memory.passage where object_id = $1 and model = $2',
    [objectId, model],
  );
  return row?.center == null ? null : new Float32Array(JSON.parse(row.center) as number[]);
}
