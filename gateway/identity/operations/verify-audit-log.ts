import { z } from 'zod';
import { verifyAudit } from '#platform/audit/verify-audit.ts';
import type { AuditVerdict } from '#platform/audit/verify-audit.ts';
import type { Context } from '#platform/context.ts';
import { query } from '#platform/operation.ts';

/** Whether the organization's audit log is as it was written. */
export const verifyAuditLog = query({
  name: 'verifyAuditLog',
  requires: 'organizationAdmin',
  input: z.strictObject({}),
  run: (ctx: Context): Promise<AuditVerdict> => verifyAudit(ctx.em, ctx.principal!.organizationId),
});
