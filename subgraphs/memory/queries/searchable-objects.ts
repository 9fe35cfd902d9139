import type { EntityManager } from '@mikro-orm/core';
import { query } from '#platform/database/query.ts';

export interface Filterables {
  readonly category: string | null;
  readonly department: string | null;
  readonly tags: readonly string[] | null;
  readonly createdAt: Date;
}

/** What a search by words can be narrowed by, for an engine that filters itself. */
export async function filterablesOf(em: EntityManager, ids: readonly string[]): Promise<Map<string, Filterables>> {
  const rows = await query<Filterables & { id: string }>(em, `select id, category, department, tags, created_at as "createdAt" from memory.object where id = any($1)`, [ids]);
  return new Map(rows.map(({ id, ...filterables }) => [id, filterables]));
}

/** Another value after every change of a row: the number of the transaction that wrote it. */
export async function rowVersions(em: EntityManager, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await query<{ id: string; version: string }>(em, 'select id, xmin::text as version from memory.object where id = any($1)', [ids]);
  return new Map(rows.map(({ id, version }) => [id, version]));
}

/** Of these content numbers, those of objects that may be found, in any workspace. */
export async function findableSeqs(em: EntityManager, seqs: readonly number[]): Promise<Set<number>> {
  const rows = await query<{ seq: number }>(em, `select seq from memory.object where seq = any($1::bigint[]) and status = 'stored'`, [seqs]);
  return new Set(rows.map(({ seq }) => seq));
}

/** All objects that may be found, oldest content first, a portion at a time. What is stored meanwhile comes too. */
export async function* allStored(em: EntityManager, portion: number): AsyncGenerator<{ id: string; workspaceId: string }[]> {
  for (let last = 0; ; ) {
    const rows = await query<{ id: string; seq: number; workspaceId: string }>(
      em,
      `select id, seq, workspace_id as "workspaceId" from memory.object where seq > $1 and status = 'stored' order by seq limit $2`,
      [last, portion],
    );
    if (rows.length === 0) return;
    last = rows.at(-1)!.seq;
    yield rows;
  }
}

export async function countAllStored(em: EntityManager): Promise<number> {
  const [row] = await query<{ count: number }>(em, `select count(*) as count from memory.object where status = 'stored'`);
  return row!.count;
}
