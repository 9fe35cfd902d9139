import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { entitySource } from '#platform/database/entity-source.ts';
import { query } from '#platform/operation.ts';
import { pageInput, pageOf } from '#platform/page.ts';
import type { Page } from '#platform/page.ts';
import { Workspace } from '../entities/workspace.ts';

/** The workspaces that the credential reaches. */
export const listWorkspaces = query({
  name: 'listWorkspaces',
  requires: 'authenticated',
  input: z.strictObject(pageInput),
  run: (ctx: Context, input): Promise<Page<Workspace>> => {
    const source = entitySource(ctx.em, Workspace, { id: { $in: Object.keys(ctx.principal!.access) } });
    return pageOf(ctx, ['listWorkspaces', ctx.principal!.credentialId], input, { byDefault: 25, max: 100 }, source);
  },
});
