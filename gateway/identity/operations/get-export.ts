import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { notFound } from '#platform/errors.ts';
import { downloadToken } from '#platform/exports/download.ts';
import type { Export } from '#platform/exports/exports.ts';
import { findExport } from '#platform/exports/exports.ts';
import { query } from '#platform/operation.ts';

export interface ExportStatus extends Export {
  /** Null before the archive is there, and after its address has expired. */
  readonly downloadPath: string | null;
}

export const getExport = query({
  name: 'getExport',
  requires: 'organizationAdmin',
  input: z.strictObject({ id: z.string() }),
  run: async (ctx: Context, { id }): Promise<ExportStatus> => {
    const found = await findExport(ctx.em, id, ctx.principal!.organizationId);
    if (!found) throw notFound('export', id);
    const { expiresAt } = found;
    const isThere = expiresAt !== null && expiresAt > ctx.clock.now();
    return { ...found, downloadPath: isThere ? `/api/exports/${id}/download?token=${downloadToken(ctx, id, expiresAt)}` : null };
  },
});
