import type { EntityManager } from '@mikro-orm/core';
import { query } from '#platform/database/query.ts';

export interface PendingContent {
  readonly id: string;
  readonly seq: number;
  readonly organizationId: string;
  readonly vaultId: string;
  readonly workspaceId: string;
  readonly content: string;
}

/** Enough to keep the workers busy, too little to fill the memory with objects of 1 MB. */
const bytesAtOnce = 16 * 1_048_576;

/** The live contents of these objects, in portions of bounded size. */
export async function* pendingContents(em: EntityManager, ids: readonly string[]): AsyncGenerator<PendingContent[]> {
  const sizes = await query<{ id: string; byte_size: number }>(em, `select id, byte_size from memory.object where id = any($1) and status = 'stored' order by seq`, [ids]);
  let portion: string[] = [];
  let bytes = 0;
  for (const { id, byte_size } of sizes) {
    if (portion.length > 0 && bytes + byte_size > bytesAtOnce) {
      yield contentsOf(em, portion);
      portion = [];
      bytes = 0;
    }
    portion.push(id);
    bytes += byte_size;
  }
  if (portion.length > 0) yield contentsOf(em, portion);
}

const contentsOf = (em: EntityManager, ids: readonly string[]): Promise<PendingContent[]> =>
  query<PendingContent>(
    em,
    `select id, seq, organization_id as "organizationId", vault_id as "vaultId", workspace_id as "workspaceId", content
       from memory.object where id = any($1) and status = 'stored' order by seq`,
    [ids],
  );
