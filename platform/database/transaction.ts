import type { EntityManager } from '@mikro-orm/core';

/**
 * Runs `run` in one transaction; inside one already, it joins it. Nothing else may begin one. The embedded database has a
 * single session: await nothing but the database in here, and reach it through the given `em` only.
 */
export async function transaction<T>(em: EntityManager, run: (em: EntityManager) => Promise<T>): Promise<T> {
  if (em.isInTransaction()) return run(em);
  const fork = em.fork();
  await fork.begin();
  try {
    const result = await run(fork);
    await fork.commit();
    return result;
  } catch (error) {
    await fork.rollback();
    throw error;
  }
}
