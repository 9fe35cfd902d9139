import DataLoader from 'dataloader';
import type { Context } from '#platform/context.ts';
import { workspacesWith } from '#platform/principal.ts';
import type { MemoryObject } from './entities/memory-object.ts';
import type { Workspace } from './entities/workspace.ts';
import { findObjects, resolveAliases } from './queries/find-objects.ts';

const loaders = new WeakMap<Context, DataLoader<string, MemoryObject | null>>();

/** The object that a key names: old ids count, what is out of reach is null. All of one turn come with one statement. */
export function loadMemoryObject({ id }: { id: string }, ctx: Context): Promise<MemoryObject | null> {
  const loader = loaders.get(ctx) ?? new DataLoader((ids: readonly string[]) => findAll(ctx, ids));
  loaders.set(ctx, loader);
  return loader.load(id);
}

async function findAll(ctx: Context, ids: readonly string[]): Promise<(MemoryObject | null)[]> {
  if (ctx.principal === null) return ids.map(() => null);
  const old = ids.filter((id) => !id.startsWith('mem_'));
  const present = old.length > 0 ? await resolveAliases(ctx.em, old, ctx.principal.organizationId) : new Map<string, string>();
  const found = await findObjects(ctx.em, ids.map((id) => present.get(id) ?? id), workspacesWith(ctx.principal, 'read'));
  const byId = new Map(found.map((object) => [object.id, object]));
  return ids.map((id) => byId.get(present.get(id) ?? id) ?? null);
}

/** Identity decides whether the workspace is the caller's to see; what memory adds checks again. */
export const loadWorkspace = ({ id }: { id: string }, ctx: Context): Workspace | null => (ctx.principal?.access[id] === undefined ? null : { id });
