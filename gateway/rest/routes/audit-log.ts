import { z } from 'zod';
import { ListAuditLogDocument, VerifyAuditLogDocument } from '#schema/generated/documents.ts';
import { present } from '../present.ts';
import { route } from '../route.ts';
import { dateTime, page, pageQuery, pageVariables, presentPage, timestamp } from '../shapes.ts';

const common = { area: 'base', tag: 'Audit log', entrance: 'credential', method: 'GET' } as const;

const entry = z.object({
  id: z.string(),
  created_at: timestamp,
  actor_kind: z.string().describe('api_key, session, oauth, publisher; password for a sign-in'),
  credential_id: z.string().nullable(),
  user_id: z.string().nullable(),
  operation: z.string(),
  subject_ids: z.array(z.string()).describe('what it was done to, or what came into being'),
  outcome: z.string().describe('succeeded, or the code of the refusal'),
  request_id: z.string(),
  address: z.string().nullable(),
  user_agent: z.string().nullable(),
  sequence: z.int().nullable().describe('place in the chain; null until sealed, a moment after it was written'),
  hash: z.string().nullable().describe('SHA-256, hex'),
});

export const auditLogRoutes = [
  route({
    ...common,
    path: '/v1/audit-log',
    summary: 'List what was done in the organization, newest first',
    document: ListAuditLogDocument,
    query: pageQuery.extend({
      operation: z.string().optional(),
      user_id: z.string().optional(),
      subject_id: z.string().optional(),
      outcome: z.string().optional(),
      since: dateTime.optional(),
      until: dateTime.optional(),
    }),
    variables: ({ query: { limit, cursor, before, user_id: userId, subject_id: subjectId, ...filters } }) => ({ ...pageVariables({ limit, cursor, before }), ...filters, userId, subjectId }),
    status: 200,
    answer: page(entry),
    present: ({ auditLog }) => ({
      data: auditLog.edges.map(({ node }) => ({
        ...present(node),
        credential_id: node.credentialId ?? null, user_id: node.userId ?? null, address: node.address ?? null,
        user_agent: node.userAgent ?? null, sequence: node.sequence ?? null, hash: node.hash ?? null,
      })),
      ...presentPage(auditLog),
    }),
  }),
  route({
    ...common,
    path: '/v1/audit-log/verify',
    summary: 'Compute the hashes of the audit log again, and say whether anything was changed',
    document: VerifyAuditLogDocument,
    variables: () => ({}),
    status: 200,
    answer: z.object({ valid: z.boolean(), entries_sealed: z.int(), entries_unsealed: z.int(), head_sequence: z.int(), head_hash: z.string(), first_invalid: z.int().nullable() }),
    present: ({ verifyAuditLog }) => ({ ...present(verifyAuditLog), first_invalid: verifyAuditLog.firstInvalid ?? null }),
  }),
];
