import type { EntityManager } from '@mikro-orm/core';
import { query } from '#platform/database/query.ts';
import type { MemoryMetadata } from '../entities/memory-object.ts';

export interface FoundObject {
  readonly id: string;
  readonly seq: number;
  readonly content: string;
  readonly metadata: MemoryMetadata;
  readonly createdAt: Date;
}

/** What a page of results shows; the order is the caller's to restore. */
export async function findBySeq(em: EntityManager, workspaceId: string, seqs: readonly number[]): Promise<Map<number, FoundObject>> {
  const rows = await query<FoundObject>(
    em,
    `select id, seq, content, metadata, created_at as "createdAt" from memory.object where seq = any($1::bigint[]) and workspace_id || '' = $2 and status = 'stored'`,
    [seqs, workspaceId],
  );
  return new Map(rows.map((row) => [row.seq, row]));
}
