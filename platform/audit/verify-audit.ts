import type { EntityManager } from '@mikro-orm/core';
import { query } from '../database/query.ts';
import { chainedColumns, hashOf, noHash } from './chain.ts';
import type { ChainedEntry } from './chain.ts';

export interface AuditVerdict {
  /** Whether every sealed entry is as it was sealed, and none is missing. */
  readonly valid: boolean;
  readonly entriesSealed: number;
  /** Written a moment ago and not sealed yet. */
  readonly entriesUnsealed: number;
  readonly headSequence: number;
  /** Hex. Whoever keeps it elsewhere can tell later that nothing before it was changed. */
  readonly headHash: string;
  /** The sequence at which the chain breaks. */
  readonly firstInvalid: number | null;
}

const pageSize = 2000;

/** Walks an organization's chain, a page at a time, and computes every hash again. */
export async function verifyAudit(em: EntityManager, organizationId: string): Promise<AuditVerdict> {
  // The head first: entries that are sealed meanwhile are beyond it.
  const [head] = await query<{ sequence: number; hash: Buffer }>(em, 'select sequence, hash from platform.audit_head where organization_id = $1', [organizationId]);
  const last = head?.sequence ?? 0;
  const [waiting] = await query<{ count: number }>(em, 'select count(*)::int as count from platform.audit_entry where organization_id = $1 and sequence is null', [organizationId]);
  let sequence = 0;
  let hash = noHash;
  let firstInvalid: number | null = null;
  while (sequence < last && firstInvalid === null) {
    const rows = await query<ChainedEntry & { sequence: number; hash: Buffer }>(
      em,
      `select sequence, hash, ${chainedColumns} from platform.audit_entry where organization_id = $1 and sequence > $2 and sequence <= $3 order by sequence limit ${pageSize}`,
      [organizationId, sequence, last],
    );
    // The head is there: what stands between is gone.
    if (rows.length === 0) firstInvalid = sequence + 1;
    for (const row of rows) {
      const expected = hashOf(hash, sequence + 1, row);
      if (row.sequence !== sequence + 1 || !expected.equals(row.hash)) {
        firstInvalid = sequence + 1;
        break;
      }
      sequence += 1;
      hash = expected;
    }
  }
  if (firstInvalid === null && head !== undefined && !head.hash.equals(hash)) firstInvalid = last;
  return { valid: firstInvalid === null, entriesSealed: sequence, entriesUnsealed: waiting!.count, headSequence: last, headHash: (head?.hash ?? noHash).toString('hex'), firstInvalid };
}
