import type { EntityManager } from '@mikro-orm/core';
import { query } from '#platform/database/query.ts';

/** What is not live is not searched: its passages go, and with them what processing found, to be made anew on restore. */
export async function forgetPassages(em: EntityManager, objectIds: readonly string[]): Promise<void> {
  await query(em, 'delete from memory.passage where object_id = any($1)', [objectIds]);
}
