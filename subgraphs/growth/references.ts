import DataLoader from 'dataloader';
import type { Context } from '#platform/context.ts';
import type { Organization } from './entities/organization.ts';
import { System } from './entities/system.ts';

/** Identity decides whether the organization is the caller's to see; what growth adds checks again. */
export const loadOrganization = ({ id }: { id: string }, ctx: Context): Organization | null => (ctx.principal?.organizationId === id ? { id } : null);

const loaders = new WeakMap<Context, DataLoader<number, System | null>>();

/** The system of a track that the caller was shown. All of one turn come with one statement. */
export function loadSystem(id: number, ctx: Context): Promise<System | null> {
  const loader = loaders.get(ctx) ?? new DataLoader((ids: readonly number[]) => findAll(ctx, ids));
  loaders.set(ctx, loader);
  return loader.load(id);
}

async function findAll(ctx: Context, ids: readonly number[]): Promise<(System | null)[]> {
  const found = await ctx.em.find(System, { id: { $in: [...ids] }, organizationId: ctx.principal!.organizationId });
  const byId = new Map(found.map((system) => [system.id, system]));
  return ids.map((id) => byId.get(id) ?? null);
}
