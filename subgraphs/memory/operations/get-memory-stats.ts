import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { query } from '#platform/operation.ts';
import { workspaceScope } from '#platform/requirements.ts';
import { countObjects } from '../queries/count-objects.ts';
import type { ObjectCounts } from '../queries/count-objects.ts';

/** How much a workspace holds. */
export const getMemoryStats = query({
  name: 'getMemoryStats',
  requires: 'vaultRead',
  input: z.strictObject({ workspaceId: z.string().nullish() }),
  run: (ctx: Context, { workspaceId }): Promise<ObjectCounts> => countObjects(ctx.em, workspaceScope(ctx.principal!, workspaceId, 'read')),
});
