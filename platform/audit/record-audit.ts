import type { EntityManager } from '@mikro-orm/core';
import type { Context } from '../context.ts';
import { query } from '../database/query.ts';

/** One command and what came of it. It names things by their ids and holds nothing of their content. */
export interface AuditEntry {
  readonly organizationId: string;
  /** The kind of credential. */
  readonly actorKind: string;
  readonly credentialId: string | null;
  readonly userId: string | null;
  readonly operation: string;
  /** What it was done to, or what came into being. */
  readonly subjectIds: readonly string[];
  /** `succeeded`, or the code of the refusal. */
  readonly outcome: string;
  readonly requestId: string;
  readonly address: string | null;
  readonly userAgent: string | null;
}

/** An entry by whoever asks; somebody who has only just proved who they are names organization and user. */
export function auditEntry(
  ctx: Pick<Context, 'principal' | 'requestId' | 'client'>,
  { operation, subjectIds, outcome = 'succeeded' }: { operation: string; subjectIds: readonly string[]; outcome?: string },
  who: { organizationId: string; userId: string | null } = ctx.principal!,
): AuditEntry {
  const { principal, requestId, client } = ctx;
  return {
    organizationId: who.organizationId,
    actorKind: principal?.kind ?? 'password',
    credentialId: principal?.credentialId ?? null,
    userId: who.userId,
    operation, subjectIds, outcome, requestId,
    address: client?.address ?? null,
    userAgent: client?.userAgent ?? null,
  };
}

/** Writes entries in the transaction that did what they tell: they exist exactly when it was done. */
export async function recordAudit(em: EntityManager, entries: readonly AuditEntry[], now: Date): Promise<void> {
  if (entries.length === 0) return;
  await query(em, insertEntries, [JSON.stringify(entries), now]);
}

const insertEntries = `
  insert into platform.audit_entry (organization_id, actor_kind, credential_id, user_id, operation, subject_ids, outcome, request_id, address, user_agent, created_at)
  select "organizationId", "actorKind", "credentialId", "userId", operation, "subjectIds", outcome, "requestId", address, "userAgent", $2::timestamptz
    from jsonb_to_recordset($1::jsonb) as entry("organizationId" text, "actorKind" text, "credentialId" text, "userId" text, operation text, "subjectIds" text[],
                                               outcome text, "requestId" text, address text, "userAgent" text)`;
