import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { command } from '#platform/operation.ts';
import { checkTransition } from '#platform/state-machine.ts';
import { MemoryStatus, memoryTransitions } from '../entities/memory-object.ts';
import type { MemoryPorts } from '../ports/ports.ts';
import { findForUpdate } from './find-for-update.ts';
import { refuseLiveContent } from './live-content.ts';
import { receiptOfObject } from './object-receipt.ts';
import type { ObjectReceipt } from './object-receipt.ts';
import { reprocess } from './reprocess.ts';

/** Brings an archived object back to life, for good: its time to live is spent. */
export const restoreMemory = command({
  name: 'restoreMemory',
  requires: 'vaultWrite',
  input: z.strictObject({ id: z.string() }),
  run: async (ctx: Context<MemoryPorts>, { id }): Promise<ObjectReceipt> => {
    const object = await findForUpdate(ctx, id);
    checkTransition(memoryTransitions, 'memory object', object.status, MemoryStatus.STORED);
    await refuseLiveContent(ctx, object, object.contentDigest);
    object.status = MemoryStatus.STORED;
    object.archivedAt = null;
    object.expiresAt = null;
    object.updatedAt = ctx.clock.now();
    await reprocess(ctx, object, { grows: true });
    return receiptOfObject(object);
  },
});
