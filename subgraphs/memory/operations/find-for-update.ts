import type { EntityManager } from '@mikro-orm/core';
import { LockMode } from '@mikro-orm/core';
import type { Context } from '#platform/context.ts';
import { notFound } from '#platform/errors.ts';
import { workspacesWith } from '#platform/principal.ts';
import { workspaceScope } from '#platform/requirements.ts';
import { MemoryObject, MemoryStatus } from '../entities/memory-object.ts';
import { presentId } from './get-memory.ts';

/** The object a command is about, locked until commit. Out of sight is 404; in sight but not the caller's to change, 403. */
export async function findForUpdate(ctx: Context, id: string): Promise<MemoryObject> {
  const em: EntityManager = ctx.em;
  const object = await em.findOne(
    MemoryObject,
    { id: await presentId(ctx, id), workspaceId: { $in: workspacesWith(ctx.principal!, 'read') }, status: { $ne: MemoryStatus.DELETED } },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  if (!object) throw notFound('memory object', id);
  workspaceScope(ctx.principal!, object.workspaceId, 'write');
  return object;
}
