import type { EntityManager } from '@mikro-orm/core';
import { query } from '#platform/database/query.ts';
import { hashOf, processingOf } from '../entities/memory-object.ts';
import type { MemoryMetadata, MemoryObject, MemoryStatus } from '../entities/memory-object.ts';

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

/** A plain object, no entity: the ORM watches every assignment to those, which costs more than the query's parsing. */
const objectOf = (row: ObjectRow): MemoryObject => ({
  id: row.id,
  seq: row.seq,
  organizationId: row.organization_id,
  vaultId: row.vault_id,
  workspaceId: row.workspace_id,
  content: row.content,
  contentDigest: row.content_hash,
  contentHash: hashOf(row.content_hash),
  byteSize: row.byte_size,
  metadata: row.metadata,
  status: row.status,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  archivedAt: row.archived_at,
  deletedAt: row.deleted_at,
  expiresAt: row.expires_at,
  processing: processingOf(row.entities),
  vault: { id: row.vault_id },
  workspace: { id: row.workspace_id },
});

/** Ids from before release 2.0.0 → present ids. */
export async function resolveAliases(em: EntityManager, oldIds: readonly string[], organizationId: string): Promise<Map<string, string>> {
  const rows = await query<{ old_id: string; object_id: string }>(
    em,
    'select old_id, object_id from memory.object_alias where organization_id = $1 and old_id = any($2)',
    [organizationId, oldIds],
  );
  return new Map(rows.map((row) => [row.old_id, row.object_id]));
}
