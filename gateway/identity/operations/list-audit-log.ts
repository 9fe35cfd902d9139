import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { query as select } from '#platform/database/query.ts';
import { query } from '#platform/operation.ts';
import { pageInput, pageOf } from '#platform/page.ts';
import type { ListSource, Page } from '#platform/page.ts';
import type { AuditLogEntry } from '../entities/audit-entry.ts';

const filters = {
  operation: z.string().nullish(),
  userId: z.string().nullish(),
  subjectId: z.string().nullish(),
  outcome: z.string().nullish(),
  since: z.date().nullish(),
  until: z.date().nullish(),
};
type Filters = z.output<z.ZodObject<typeof filters>>;

/** What was done in the organization, newest first. */
export const listAuditLog = query({
  name: 'listAuditLog',
  requires: 'organizationAdmin',
  input: z.strictObject({ ...pageInput, ...filters }),
  run: (ctx: Context, { first, after, last, before, ...filter }): Promise<Page<AuditLogEntry>> =>
    pageOf(ctx, ['listAuditLog', JSON.stringify(filter)], { first, after, last, before }, { byDefault: 25, max: 100 }, entriesOf(ctx, filter)),
});

function entriesOf({ em, principal }: Context, { operation, userId, subjectId, outcome, since, until }: Filters): ListSource<AuditLogEntry> {
  const params = [principal!.organizationId, operation ?? null, userId ?? null, subjectId ?? null, outcome ?? null, since ?? null, until ?? null];
  return {
    keyOf: ({ id }) => id,
    // Operator and order are two words of ours each, never the caller's.
    fetch: ({ key, operator, order, take }) => select(em, `select ${columns} from platform.audit_entry where ${matching} and ($8::bigint is null or id ${operator} $8) order by audit_entry.id ${order} limit $9`, [...params, key, take]),
    total: async () => (await select<{ total: number }>(em, `select count(*)::int as total from platform.audit_entry where ${matching}`, params))[0]!.total,
  };
}

const columns = `
  id::text as id, created_at as "createdAt", actor_kind as "actorKind", credential_id as "credentialId", user_id as "userId", operation, subject_ids as "subjectIds",
  outcome, request_id as "requestId", address, user_agent as "userAgent", sequence, encode(hash, 'hex') as hash`;

const matching = `
  organization_id = $1 and ($2::text is null or operation = $2) and ($3::text is null or user_id = $3) and ($4::text is null or $4 = any(subject_ids))
  and ($5::text is null or outcome = $5) and ($6::timestamptz is null or created_at >= $6) and ($7::timestamptz is null or created_at < $7)`;
