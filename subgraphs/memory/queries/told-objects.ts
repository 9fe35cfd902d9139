import type { EntityManager } from '@mikro-orm/core';
import { query } from '#platform/database/query.ts';
import type { MemoryMetadata, MemoryStatus } from '../entities/memory-object.ts';

export interface ToldObject {
  readonly id: string;
  readonly workspace_id: string;
  readonly vault_id: string;
  readonly metadata: MemoryMetadata;
  readonly status: MemoryStatus;
  readonly created_at: Date;
  readonly updated_at: Date | null;
  readonly deleted_at: Date | null;
  readonly entities: string[] | null;
}

/** What may be told of objects to whoever hears of their workspaces: everything but the content. Only those of pairs that belong together. */
export function toldObjects(em: EntityManager, pairs: readonly { id: string; workspaceId: string }[]): Promise<ToldObject[]> {
  return query<ToldObject>(
    em,
    `select object.id, object.workspace_id, vault_id, metadata, status, created_at, updated_at, deleted_at, processing.entities
       from unnest($1::text[], $2::text[]) as asked(id, workspace_id)
       join memory.object on object.id = asked.id and object.workspace_id = asked.workspace_id
       left join memory.processing on processing.object_id = object.id and processing.seq = object.seq`,
    [pairs.map(({ id }) => id), pairs.map(({ workspaceId }) => workspaceId)],
  );
}
