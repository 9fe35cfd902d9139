import type { EntityManager } from '@mikro-orm/core';
import { query } from '#platform/database/query.ts';
import type { KeywordDocuments } from '../ports/keyword-index.ts';
import { filterConditions } from './filter.ts';
import type { RetrieveFilter } from './filter.ts';

/** What the keyword index asks about the objects behind its postings. */
export const keywordDocuments: KeywordDocuments<RetrieveFilter> = {
  hidden: (em, workspaceId, seqs, filter) => seqsBut(em, workspaceId, seqs, filterConditions(filter, 3)),
  // Whoever comes back from the archive is indexed anew, under a new number.
  outdated: (em, workspaceId, seqs) => seqsBut(em, workspaceId, seqs, { sql: '', params: [] }),
  contents: async (em, workspaceId, seqs) => {
    const rows = await query<{ seq: number; content: string }>(em, `select seq, content from memory.object where seq = any($1) and workspace_id || '' = $2 and status = 'stored'`, [seqs, workspaceId]);
    return new Map(rows.map(({ seq, content }) => [seq, content]));
  },
};

/** The numbers that no such object has: usually none, where the others would be a thousand rows to send and to read. */
async function seqsBut(em: EntityManager, workspaceId: string, seqs: readonly number[], filter: { sql: string; params: unknown[] }): Promise<number[]> {
  // The concatenation keeps the planner from reading the whole workspace by its index; the few by seq are what we want.
  const rows = await query<{ seq: number }>(
    em,
    `select unnest($1::bigint[]) as seq except select seq from memory.object where seq = any($1::bigint[]) and workspace_id || '' = $2 and status = 'stored'${filter.sql}`,
    [seqs, workspaceId, ...filter.params],
  );
  return rows.map(({ seq }) => seq);
}
