import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { ExportState } from '#platform/exports/export-state.ts';
import { insertExport } from '#platform/exports/exports.ts';
import { newId } from '#platform/ids.ts';
import { command } from '#platform/operation.ts';

export interface ExportReceipt {
  readonly id: string;
  readonly state: ExportState;
}

export const startFullExport = command({
  name: 'startFullExport',
  requires: 'organizationAdmin',
  input: z.strictObject({}),
  run: async (ctx: Context): Promise<ExportReceipt> => {
    const receipt = { id: newId('export'), state: ExportState.QUEUED };
    await insertExport(ctx.em, { ...receipt, organizationId: ctx.principal!.organizationId, createdAt: ctx.clock.now() }, ctx.exportAreas);
    return receipt;
  },
});
