import { createHash } from 'node:crypto';

/** What of an entry is sealed: all of it. */
export interface ChainedEntry {
  readonly organization_id: string;
  readonly created_at: Date;
  readonly actor_kind: string;
  readonly credential_id: string | null;
  readonly user_id: string | null;
  readonly operation: string;
  readonly subject_ids: readonly string[];
  readonly outcome: string;
  readonly request_id: string;
  readonly address: string | null;
  readonly user_agent: string | null;
}

export const chainedColumns = 'organization_id, created_at, actor_kind, credential_id, user_id, operation, subject_ids, outcome, request_id, address, user_agent';

/** Before the first entry of a chain. */
export const noHash: Buffer = Buffer.alloc(32);

/**
 * SHA-256 over the hash before (32 bytes; zeros for the first entry) and, in UTF-8, the JSON array without spaces of:
 * sequence, organization, time (ISO 8601, UTC, milliseconds), kind of actor, credential, user, operation, subjects, outcome,
 * request, address, user agent. Anybody can compute it again from an export.
 */
export const hashOf = (previous: Buffer, sequence: number, entry: ChainedEntry): Buffer =>
  createHash('sha256')
    .update(previous)
    .update(
      JSON.stringify([
        sequence, entry.organization_id, entry.created_at.toISOString(), entry.actor_kind, entry.credential_id, entry.user_id,
        entry.operation, entry.subject_ids, entry.outcome, entry.request_id, entry.address, entry.user_agent,
      ]),
    )
    .digest();
