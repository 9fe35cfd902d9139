import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { notFound } from '#platform/errors.ts';
import { query } from '#platform/operation.ts';
import { workspacesWith } from '#platform/principal.ts';
import type { MemoryObject } from '../entities/memory-object.ts';
import { findObjects, resolveAliases } from '../queries/find-objects.ts';

/** One object by its id, old or new. What is deleted or out of reach is not found. */
export const getMemory = query({
  name: 'getMemory',
  requires: 'vaultRead',
  input: z.strictObject({ id: z.string() }),
  run: async (ctx: Context, { id }): Promise<MemoryObject> => {
    const workspaceIds = workspacesWith(ctx.principal!, 'read');
    const [object] = await findObjects(ctx.reader, [isPresentId(id) ? id : await presentId(ctx, id)], workspaceIds);
    if (!object) throw notFound('memory object', id);
    return object;
  },
});

/** New ids pass; anything else may be the id of an older object. */
export async function presentId(ctx: Context, id: string): Promise<string> {
  if (isPresentId(id)) return id;
  return (await resolveAliases(ctx.em, [id], ctx.principal!.organizationId)).get(id) ?? id;
}

const isPresentId = (id: string): boolean => id.startsWith('mem_');
