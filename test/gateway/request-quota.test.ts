import type { EntityManager } from '@mikro-orm/core';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '#platform/database/database.ts';
import { migrate } from '#platform/database/migrator.ts';
import { usageMigration } from '#platform/usage/migration.ts';
import { RequestQuota } from '../../gateway/rate-limits/request-quota.ts';
import { openTestDatabase } from '../platform/open-test-database.ts';

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
  await migrate(database, [usageMigration]);
});
afterAll(() => database.close());

let now = new Date('2026-03-31T23:59:00Z');
const logger = pino({ level: 'silent' });

function quotaOf(max: number, fork: () => EntityManager = () => database.orm.em.fork()): RequestQuota {
  return new RequestQuota({ max, fork, clock: { now: () => now }, logger });
}

const refused = { code: 'quota_exceeded', fields: { quota: 'requests_per_month', resets_at: '2026-04-01T00:00:00.000Z' } };
const takes = async (quota: RequestQuota, organizationId: string, times: number): Promise<void> => {
  for (let taken = 0; taken < times; taken += 1) await quota.take(organizationId);
};
const written = async (organizationId: string): Promise<Record<string, number>> => {
  const rows = await database.execute<{ month: string; amount: number }>('select month, amount from platform.usage where organization_id = $1', [organizationId]);
  return Object.fromEntries(rows.map(({ month, amount }) => [month, amount]));
};

it('adds up what gateways count, and what one of them counted before it stopped', async () => {
  await using cleanUp = new AsyncDisposableStack();
  const [first, second] = [quotaOf(10), quotaOf(10)];
  cleanUp.defer(() => first.close());
  cleanUp.defer(() => second.close());
  await takes(first, 'org_a', 6);
  await takes(second, 'org_a', 3);
  await Promise.all([first.flush(), second.flush()]);
  expect(await written('org_a')).toEqual({ '2026-03-01': 9 });
  await takes(second, 'org_a', 1);
  await second.flush();
  await expect(second.take('org_a')).rejects.toMatchObject(refused);
  await second.take('org_b');

  const third = quotaOf(10);
  cleanUp.defer(() => third.close());
  await expect(third.take('org_a')).rejects.toMatchObject(refused);
});

it('counts exactly when many ask at once before anything is known', async () => {
  const quota = quotaOf(50);
  const outcomes = await Promise.allSettled(Array.from({ length: 200 }, () => quota.take('org_c')));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(50);
  await quota.close();
  expect(await written('org_c')).toEqual({ '2026-03-01': 50 });
});

it('loses nothing to a write that fails', async () => {
  let isBroken = false;
  const quota = quotaOf(100, () => {
    if (isBroken) throw new Error('the database is away');
    return database.orm.em.fork();
  });
  await takes(quota, 'org_d', 4);
  isBroken = true;
  await quota.flush();
  await takes(quota, 'org_d', 3);
  isBroken = false;
  await quota.close();
  expect(await written('org_d')).toEqual({ '2026-03-01': 7 });
});

it('begins anew with the month', async () => {
  const quota = quotaOf(2);
  await takes(quota, 'org_e', 2);
  await quota.flush();
  await expect(quota.take('org_e')).rejects.toMatchObject(refused);
  now = new Date('2026-04-01T00:00:00Z');
  await takes(quota, 'org_e', 2);
  await expect(quota.take('org_e')).rejects.toMatchObject({ fields: { resets_at: '2026-05-01T00:00:00.000Z' } });
  await quota.close();
  expect(await written('org_e')).toEqual({ '2026-03-01': 2, '2026-04-01': 2 });
});
