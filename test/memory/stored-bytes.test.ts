import type { EntityManager } from '@mikro-orm/core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrate } from '#platform/database/migrator.ts';
import type { Database } from '#platform/database/database.ts';
import { query } from '#platform/database/query.ts';
import { transaction } from '#platform/database/transaction.ts';
import { memoryMigration } from '../../subgraphs/memory/migrations/0001-memory.ts';
import { storedBytesMigration } from '../../subgraphs/memory/migrations/0002-stored-bytes.ts';
import { countStoredBytes, storedBytesOf, takeBack } from '../../subgraphs/memory/queries/stored-bytes.ts';
import { openTestDatabase } from '../platform/open-test-database.ts';

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
  await migrate(database, [memoryMigration, storedBytesMigration]);
});
afterAll(() => database.close());

const em = () => database.orm.em.fork();
const insert = (own: EntityManager, ids: readonly string[], organizationId: string, bytes: number): Promise<unknown> =>
  query(
    own,
    `insert into memory.object (id, organization_id, vault_id, workspace_id, content, content_hash, byte_size, metadata, created_at)
     select id, $2, 'vlt', 'wsp', id, sha256(id::bytea), $3, '{}', now() from unnest($1::text[]) as id`,
    [ids, organizationId, bytes],
  );
const counted = async (): Promise<Record<string, number>> => Object.fromEntries([...(await storedBytesOf(em(), ['org_a', 'org_b']))].filter(([, bytes]) => bytes !== 0));
const summed = async (): Promise<Record<string, number>> => {
  const rows = await database.execute<{ id: string; bytes: number }>(`select organization_id as id, sum(byte_size) as bytes from memory.object where status = 'stored' group by 1`);
  return Object.fromEntries(rows.map(({ id, bytes }) => [id, bytes]));
};

it('counts from the moment it is wanted, with all that is there, and agrees with a sum whatever happens', async () => {
  await insert(em(), ['a1', 'a2'], 'org_a', 10);
  expect(await counted()).toEqual({});
  await countStoredBytes(em(), true);
  expect(await counted()).toEqual({ org_a: 20 });
  await insert(em(), ['b1', 'b2', 'b3'], 'org_b', 5);
  await database.execute(`update memory.object set status = 'archived' where id in ('a1', 'b1')`);
  await database.execute(`update memory.object set byte_size = 8 where id in ('a2', 'b2')`);
  await database.execute(`update memory.object set status = 'deleted' where id = 'b3'`);
  await database.execute(`update memory.object set status = 'stored' where id = 'a1'`);
  await database.execute(`delete from memory.object where id in ('b3', 'a2')`);
  expect(await counted()).toEqual({ org_a: 10, org_b: 8 });
  expect(await summed()).toEqual({ org_a: 10, org_b: 8 });
});

it('takes back what has no room, in the transaction that stored it', async () => {
  await transaction(em(), async (own) => {
    await insert(own, ['a3'], 'org_a', 100);
    expect((await storedBytesOf(own, ['org_a'])).get('org_a')).toBe(110);
    await takeBack(own, ['a3']);
  });
  expect(await counted()).toEqual({ org_a: 10, org_b: 8 });
});

it('stops when nobody wants it, and begins anew with what is there then', async () => {
  await countStoredBytes(em(), false);
  await countStoredBytes(em(), false);
  await insert(em(), ['a4'], 'org_a', 7);
  expect(await counted()).toEqual({});
  // Two processes start at once.
  await Promise.all([countStoredBytes(em(), true), countStoredBytes(em(), true)]);
  expect(await counted()).toEqual({ org_a: 17, org_b: 8 });
});
