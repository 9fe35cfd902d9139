import type { EntityClass, FilterQuery } from '@mikro-orm/core';
import DataLoader from 'dataloader';
import type { Context } from '../context.ts';
import type { Principal } from '../principal.ts';

type Keyed = { id: string };

const loaders = new WeakMap<object, Map<EntityClass<Keyed>, DataLoader<string, Keyed | null>>>();

/**
 * The entity with this id, or null when it does not exist or is not the principal's to see. All asked for in one turn of a
 * request come with one statement, so that a list of references never becomes a list of statements.
 * `scope` is the filter that keeps tenants apart.
 */
export function loadByKey<Entity extends Keyed>(
  ctx: Pick<Context, 'em' | 'principal'>,
  entity: EntityClass<Entity>,
  id: string,
  scope: (principal: Principal) => FilterQuery<Entity>,
): Promise<Entity | null> {
  const { principal } = ctx;
  if (principal === null) return Promise.resolve(null);
  const perEntity = loaders.get(ctx) ?? new Map<EntityClass<Keyed>, DataLoader<string, Keyed | null>>();
  loaders.set(ctx, perEntity);
  let loader = perEntity.get(entity);
  if (!loader) {
    loader = new DataLoader(async (ids: readonly string[]) => {
      const found = await ctx.em.find(entity, { $and: [{ id: { $in: [...ids] } }, scope(principal)] } as FilterQuery<Entity>);
      const byId = new Map(found.map((one) => [one.id, one]));
      return ids.map((each) => byId.get(each) ?? null);
    });
    perEntity.set(entity, loader);
  }
  return loader.load(id) as Promise<Entity | null>;
}
