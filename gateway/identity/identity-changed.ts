import type { EntityManager } from '@mikro-orm/core';
import { query } from '#platform/database/query.ts';

export const identityChannel = 'identity_changed';

/** Tells every gateway process, with the commit, to forget what it knows of credentials. */
export async function identityChanged(em: EntityManager): Promise<void> {
  await query(em, "select pg_notify($1, '')", [identityChannel]);
}
