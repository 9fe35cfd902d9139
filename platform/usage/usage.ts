import type { EntityManager } from '@mikro-orm/core';
import { query } from '../database/query.ts';
import { DomainError } from '../errors.ts';

/** What is counted by the month. */
export type MonthlyQuota = 'requests_per_month' | 'compute_seconds';

/** `2026-03-01` */
export const monthOf = (now: Date): string => `${now.toISOString().slice(0, 7)}-01`;

/** Adds to what organizations have used this month, and answers how much that is now; several processes add up. */
export async function addUsage(em: EntityManager, quota: MonthlyQuota, used: ReadonlyMap<string, number>, now: Date): Promise<Map<string, number>> {
  const rows = await query<{ organization_id: string; amount: number }>(
    em,
    `insert into platform.usage as known (organization_id, quota, month, amount)
     select organization_id, $3, $4::date, amount from unnest($1::text[], $2::float8[]) as used(organization_id, amount) order by organization_id
         on conflict (organization_id, quota, month) do update set amount = known.amount + excluded.amount
     returning organization_id, amount`,
    [[...used.keys()], [...used.values()], quota, monthOf(now)],
  );
  return new Map(rows.map(({ organization_id: id, amount }) => [id, amount]));
}

/** What these organizations have used this month. */
export async function findUsage(em: EntityManager, quota: MonthlyQuota, organizationIds: readonly string[], now: Date): Promise<Map<string, number>> {
  const rows = await query<{ organization_id: string; amount: number }>(
    em,
    'select organization_id, amount from platform.usage where organization_id = any($1) and quota = $2 and month = $3::date',
    [organizationIds, quota, monthOf(now)],
  );
  return new Map(rows.map(({ organization_id: id, amount }) => [id, amount]));
}

/** A month's quota is used up until the next begins. */
export const monthlyQuotaExceeded = (quota: MonthlyQuota, allowed: string, now: Date): DomainError => {
  const resetsAt = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)).toISOString();
  return new DomainError('quota_exceeded', `Your organization has used its ${allowed} of this month; the next begins at ${resetsAt}.`, { quota, resets_at: resetsAt });
};
