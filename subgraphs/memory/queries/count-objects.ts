import type { EntityManager } from '@mikro-orm/core';
import { query } from '#platform/database/query.ts';

export async function countStored(em: EntityManager, workspaceId: string): Promise<number> {
  const [row] = await query<{ count: number }>(em, `select count(*) as count from memory.object where workspace_id = $1 and status = 'stored'`, [workspaceId]);
  return row!.count;
}

export interface ObjectCounts {
  readonly stored: number;
  readonly archived: number;
  readonly deleted: number;
  /** Removed for good, ever. */
  readonly purged: number;
  /** Bytes of the contents that are stored or archived. */
  readonly bytes: number;
}

export async function countObjects(em: EntityManager, workspaceId: string): Promise<ObjectCounts> {
  const [row] = await query<ObjectCounts>(
    em,
    `select count(*) filter (where status = 'stored') as stored,
            count(*) filter (where status = 'archived') as archived,
            count(*) filter (where status = 'deleted') as deleted,
            coalesce(sum(byte_size) filter (where status <> 'deleted'), 0)::bigint as bytes,
            coalesce((select objects from memory.purged where workspace_id = $1), 0) as purged
       from memory.object where workspace_id = $1`,
    [workspaceId],
  );
  return row!;
}
