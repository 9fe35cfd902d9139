import type { EntityManager } from '@mikro-orm/core';
import { query } from '#platform/database/query.ts';
import { transaction } from '#platform/database/transaction.ts';

/** Any number, as long as nobody else uses it: "byte" in ASCII. */
const LOCK = 0x62_79_74_65;

/**
 * Has the database count the stored bytes of every organization, or stop that. It costs each store a lock on the count of its
 * organization, so it is done only where there is a quota. All processes of an installation have the same settings.
 */
export async function countStoredBytes(em: EntityManager, isWanted: boolean): Promise<void> {
  await transaction(em, async (own) => {
    await query(own, 'select pg_advisory_xact_lock($1)', [LOCK]);
    const triggers = await query(own, `select tgname from pg_trigger where tgrelid = 'memory.object'::regclass and tgname like 'object_bytes_%'`);
    if (isWanted === triggers.length > 0) return;
    await query(own, isWanted ? beginCounting : endCounting);
  });
}

/** Nobody writes between the sum and the first trigger. */
const beginCounting = `
  lock table memory.object in share row exclusive mode;
  create trigger object_bytes_insert after insert on memory.object referencing new table as added for each statement execute function memory.add_stored_bytes();
  create trigger object_bytes_update after update on memory.object referencing old table as removed new table as added for each statement execute function memory.add_stored_bytes();
  create trigger object_bytes_delete after delete on memory.object referencing old table as removed for each statement execute function memory.add_stored_bytes();
  insert into memory.stored_bytes (organization_id, bytes) select organization_id, sum(byte_size) from memory.object where status = 'stored' group by organization_id`;

const endCounting = `
  drop trigger object_bytes_insert on memory.object;
  drop trigger object_bytes_update on memory.object;
  drop trigger object_bytes_delete on memory.object;
  delete from memory.stored_bytes`;

/** After a change in the same transaction nobody else changes them until it ends. */
export async function storedBytesOf(em: EntityManager, organizationIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await query<{ organization_id: string; bytes: number }>(em, 'select organization_id, bytes from memory.stored_bytes where organization_id = any($1)', [organizationIds]);
  return new Map(rows.map(({ organization_id: id, bytes }) => [id, bytes]));
}

/** As if they had never been stored: in the transaction that inserted them. */
export const takeBack = (em: EntityManager, ids: readonly string[]): Promise<unknown> => query(em, 'delete from memory.object where id = any($1)', [ids]);
