import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { query } from '#platform/operation.ts';
import { pageInput, pageOf } from '#platform/page.ts';
import type { Page } from '#platform/page.ts';
import { workspaceScope } from '#platform/requirements.ts';
import type { MemoryObject } from '../entities/memory-object.ts';
import type { MemoryPorts } from '../ports/ports.ts';
import { countStored } from '../queries/count-objects.ts';
import { listObjects } from '../queries/find-objects.ts';

/** The live objects of a workspace, newest first. */
export const listMemories = query({
  name: 'listMemories',
  requires: 'vaultRead',
  input: z.strictObject({ ...pageInput, workspaceId: z.string().nullish() }),
  run: async (ctx: Context<MemoryPorts>, input): Promise<Page<MemoryObject>> => {
    const workspaceId = workspaceScope(ctx.principal!, input.workspaceId, 'read');
    return pageOf(ctx, ['listMemories', workspaceId], input, { byDefault: 50, max: 1000 }, {
      keyOf: ({ id }) => id,
      fetch: (slice) => listObjects(ctx.em, workspaceId, slice),
      total: () => countStored(ctx.em, workspaceId),
    });
  },
});
