import type { EntityClass, EntityManager, FilterQuery } from '@mikro-orm/core';
import type { ListSource } from '../page.ts';

const comparison = { '<': '$lt', '<=': '$lte', '>': '$gt', '>=': '$gte' } as const;

/** A table as a list for `pageOf`: newest first, because ids sort by creation. */
export function entitySource<Entity extends { id: string | number }>(em: EntityManager, entity: EntityClass<Entity>, scope: FilterQuery<Entity>): ListSource<Entity> {
  return {
    keyOf: ({ id }) => String(id),
    fetch: ({ key, operator, order, take }) => {
      const side = key === null ? {} : { id: { [comparison[operator]]: key } };
      return em.find(entity, { $and: [scope, side] } as FilterQuery<Entity>, { orderBy: { id: order } as never, limit: take });
    },
    total: () => em.count(entity, scope),
  };
}
