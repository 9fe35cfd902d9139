import type { Context } from '#platform/context.ts';
import type { MemoryObject } from '../entities/memory-object.ts';
import { contentKey, findLiveContents } from '../queries/insert-objects.ts';
import { duplicateContent } from './store-objects.ts';

/** An object may not come to hold what another live object of its workspace holds. The unique index has the last word. */
export async function refuseLiveContent(ctx: Context, object: MemoryObject, contentDigest: Buffer): Promise<void> {
  const { workspaceId } = object;
  const live = await findLiveContents(ctx.em, [{ workspaceId, contentDigest }]);
  const existingId = live.get(contentKey(workspaceId, contentDigest.toString('hex')));
  if (existingId !== undefined && existingId !== object.id) throw duplicateContent(existingId);
}
