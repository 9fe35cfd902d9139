import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { DomainError, validationError } from '#platform/errors.ts';
import { command } from '#platform/operation.ts';
import { content, metadataFaults, metadataPatch } from '../content-rules.ts';
import { digestOf, MemoryStatus } from '../entities/memory-object.ts';
import { enqueueMeilisearch } from '../jobs/index-meilisearch.ts';
import { mergePatch } from '../merge-patch.ts';
import type { MemoryPorts } from '../ports/ports.ts';
import { findForUpdate } from './find-for-update.ts';
import { refuseLiveContent } from './live-content.ts';
import { receiptOfObject } from './object-receipt.ts';
import type { ObjectReceipt } from './object-receipt.ts';
import { processingOfObject } from './processing-of-object.ts';
import { reprocess } from './reprocess.ts';

const input = z
  .strictObject({
    id: z.string(),
    content: content.optional(),
    metadata: metadataPatch.optional(),
  })
  .refine((patch) => patch.content !== undefined || patch.metadata !== undefined, 'must change content or metadata');

/** Changes content, or metadata by JSON Merge Patch (RFC 7396). New content is embedded and indexed anew. */
export const updateMemory = command({
  name: 'updateMemory',
  requires: 'vaultWrite',
  input,
  run: async (ctx: Context<MemoryPorts>, patch): Promise<ObjectReceipt> => {
    const object = await findForUpdate(ctx, patch.id);
    if (object.status !== MemoryStatus.STORED) {
      throw new DomainError('invalid_transition', `This memory object is ${object.status}; restore it before changing it.`);
    }
    object.updatedAt = ctx.clock.now();
    if (patch.metadata !== undefined) {
      const merged = mergePatch(object.metadata, patch.metadata);
      const faults = metadataFaults(merged).map(({ path, message }) => ({ path: ['metadata', ...path].join('.'), message }));
      if (faults.length > 0) throw validationError(faults);
      object.metadata = merged;
    }
    if (patch.content !== undefined && patch.content !== object.content) {
      const digest = digestOf(patch.content);
      await refuseLiveContent(ctx, object, digest);
      object.content = patch.content;
      object.contentDigest = digest;
      const byteSize = Buffer.byteLength(patch.content);
      const grows = byteSize > object.byteSize;
      object.byteSize = byteSize;
      await reprocess(ctx, object, { grows });
    } else {
      await ctx.em.flush();
      // Metadata is a filter there.
      await enqueueMeilisearch(ctx, ctx.em, [object.id]);
      object.processing = await processingOfObject(ctx, object);
    }
    return receiptOfObject(object);
  },
});
