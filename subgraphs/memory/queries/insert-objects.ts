import type { EntityManager } from '@mikro-orm/core';
import { query } from '#platform/database/query.ts';

export interface NewObject {
  readonly id: string;
  readonly organizationId: string;
  readonly vaultId: string;
  readonly workspaceId: string;
  readonly content: string;
  readonly contentDigest: Buffer;
  readonly byteSize: number;
  readonly metadata: object;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
}

/**
 * Inserts what is new and answers the ids of it; what equals a live object of its workspace falls out by the unique index.
 * One JSON parameter for all rows: 50 µs a row with every index on the embedded database.
 */
export async function insertObjects(em: EntityManager, objects: readonly NewObject[]): Promise<Set<string>> {
  const rows = objects.map((object) => ({ ...object, contentDigest: object.contentDigest.toString('hex') }));
  const inserted = await query<{ id: string }>(
    em,
    `insert into memory.object (id, organization_id, vault_id, workspace_id, content, content_hash, byte_size, metadata, created_at, expires_at)
     select id, "organizationId", "vaultId", "workspaceId", content, decode("contentDigest", 'hex'), "byteSize", metadata, "createdAt", "expiresAt"
       from jsonb_to_recordset($1::jsonb) as row(id text, "organizationId" text, "vaultId" text, "workspaceId" text, content text,
            "contentDigest" text, "byteSize" int, metadata jsonb, "createdAt" timestamptz, "expiresAt" timestamptz)
         on conflict (workspace_id, content_hash) where status = 'stored' do nothing
     returning id`,
    [JSON.stringify(rows)],
  );
  return new Set(inserted.map(({ id }) => id));
}

/** The live objects that hold these contents: workspace and digest → id. */
export async function findLiveContents(em: EntityManager, contents: readonly { workspaceId: string; contentDigest: Buffer }[]): Promise<Map<string, string>> {
  const rows = await query<{ id: string; workspace_id: string; digest: string }>(
    em,
    `select object.id, object.workspace_id, asked.digest
       from unnest($1::text[], $2::text[]) as asked(workspace_id, digest)
       join memory.object on object.workspace_id = asked.workspace_id and object.content_hash = decode(asked.digest, 'hex') and object.status = 'stored'`,
    [contents.map(({ workspaceId }) => workspaceId), contents.map(({ contentDigest }) => contentDigest.toString('hex'))],
  );
  return new Map(rows.map((row) => [contentKey(row.workspace_id, row.digest), row.id]));
}

export const contentKey = (workspaceId: string, hexDigest: string): string => `${workspaceId} ${hexDigest}`;
