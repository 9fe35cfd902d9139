import type { EntityManager } from '@mikro-orm/core';
import { query } from '#platform/database/query.ts';
import { MemoryObject, processingOf } from '../entities/memory-object.ts';
import type { MemoryMetadata, MemoryStatus } from '../entities/memory-object.ts';

interface ObjectRow {
  readonly id: string;
  readonly seq: number;
  readonly organization_id: string;
  readonly vault_id: string;
  readonly workspace_id: string;
  readonly content: string;
  readonly content_hash: Buffer;
  readonly byte_size: number;
  readonly metadata: MemoryMetadata;
  readonly status: MemoryStatus;
  readonly created_at: Date;
  readonly updated_at: Date | null;
  readonly archived_at: Date | null;
  readonly deleted_at: Date | null;
  readonly expires_at: Date | null;
  readonly entities: string[] | null;
}

/** An object beside what processing made of its present content. */
const selectObject = `
  select object.id, object.seq, organization_id, vault_id, workspace_id, content, content_hash, byte_size, metadata, status,
         created_at, updated_at, archived_at, deleted_at, expires_at, processing.entities
    from memory.object left join memory.processing on processing.object_id = object.id and processing.seq = object.seq`;

/** The objects with these ids (of any age: old ids count) that the workspaces hold and nobody deleted. One statement for GET and for references. */
export async function findObjects(em: EntityManager, ids: readonly string[], workspaceIds: readonly string[]): Promise<MemoryObject[]> {
  const rows = await query<ObjectRow>(em, `${selectObject} where object.id = any($1) and workspace_id = any($2) and status <> 'deleted'`, [ids, workspaceIds]);
  return rows.map(objectOf);
}

/** A page of a workspace's live objects; see `ListSource.fetch`. */
export async function listObjects(
  em: EntityManager,
  workspaceId: string,
  { key, operator, order, take }: { key: string | null; operator: string; order: string; take: number },
): Promise<MemoryObject[]> {
  const side = key === null ? '' : `and object.id ${operator} $3`;
  const rows = await query<ObjectRow>(
    em,
    `${selectObject} where workspace_id = $1 and status = 'stored' ${side} order by object.id ${order} limit $2`,
    key === null ? [workspaceId, take] : [workspaceId, take, key],
  );
  return rows.map(objectOf);
}

function objectOf(row: ObjectRow): MemoryObject {
  const object = new MemoryObject();
  object.id = row.id;
  object.seq = row.seq;
  object.organizationId = row.organization_id;
  object.vaultId = row.vault_id;
  object.workspaceId = row.workspace_id;
  object.content = row.content;
  object.contentDigest = row.content_hash;
  object.byteSize = row.byte_size;
  object.metadata = row.metadata;
  object.status = row.status;
  object.createdAt = row.created_at;
  object.updatedAt = row.updated_at;
  object.archivedAt = row.archived_at;
  object.deletedAt = row.deleted_at;
  object.expiresAt = row.expires_at;
  object.processing = processingOf(row.entities);
  return object;
}

/** Ids from before release 2.0.0 → present ids. */
export async function resolveAliases(em: EntityManager, oldIds: readonly string[], organizationId: string): Promise<Map<string, string>> {
  const rows = await query<{ old_id: string; object_id: string }>(
    em,
    'select old_id, object_id from memory.object_alias where organization_id = $1 and old_id = any($2)',
    [organizationId, oldIds],
  );
  return new Map(rows.map((row) => [row.old_id, row.object_id]));
}
