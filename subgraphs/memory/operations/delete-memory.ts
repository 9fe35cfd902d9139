import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { command } from '#platform/operation.ts';
import { recordEvents } from '#platform/outbox/record-events.ts';
import { checkTransition } from '#platform/state-machine.ts';
import { MemoryStatus, memoryTransitions } from '../entities/memory-object.ts';
import { memoryEvents } from '../events.ts';
import { enqueueMeilisearch } from '../jobs/index-meilisearch.ts';
import { forgetPassages } from '../queries/forget-passages.ts';
import { findForUpdate } from './find-for-update.ts';

export interface DeleteReceipt {
  readonly id: string;
  readonly status: MemoryStatus;
  readonly deletedAt: string;
}

/** Soft delete: out of search and of sight at once, removed for good after the retention period. */
export const deleteMemory = command({
  name: 'deleteMemory',
  requires: 'vaultWrite',
  input: z.strictObject({ id: z.string() }),
  run: async (ctx: Context, { id }): Promise<DeleteReceipt> => {
    const now = ctx.clock.now();
    const object = await findForUpdate(ctx, id);
    checkTransition(memoryTransitions, 'memory object', object.status, MemoryStatus.DELETED);
    object.status = MemoryStatus.DELETED;
    object.deletedAt = now;
    await ctx.em.flush();
    await forgetPassages(ctx.em, [object.id]);
    await enqueueMeilisearch(ctx, ctx.em, [object.id]);
    const { organizationId, vaultId, workspaceId } = object;
    await recordEvents(ctx.em, [{ type: memoryEvents.deleted, organizationId, vaultId, workspaceId, subjectIds: [object.id] }], now);
    return { id: object.id, status: object.status, deletedAt: now.toISOString() };
  },
});
