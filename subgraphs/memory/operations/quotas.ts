import type { EntityManager } from '@mikro-orm/core';
import type { Config } from '#platform/config.ts';
import type { Context } from '#platform/context.ts';
import { DomainError } from '#platform/errors.ts';
import { findUsage, monthlyQuotaExceeded } from '#platform/usage/usage.ts';
import type { NewObject } from '../queries/insert-objects.ts';
import { storedBytesOf, takeBack } from '../queries/stored-bytes.ts';

/** Which of these organizations may have nothing processed for the rest of the month: their refusals. */
export async function refusalsOfCompute(em: EntityManager, { quotaComputeSeconds: max }: Config, organizationIds: Iterable<string>, now: Date): Promise<Map<string, DomainError>> {
  if (max === null) return new Map();
  const used = await findUsage(em, 'compute_seconds', [...new Set(organizationIds)], now);
  return new Map([...used].flatMap(([id, seconds]) => (seconds >= max ? [[id, monthlyQuotaExceeded('compute_seconds', `${max} seconds of processing`, now)]] : [])));
}

/**
 * Takes those of the objects just inserted back that their organization has no room for, and answers their refusals by id. The
 * count of an organization stays locked until commit, so that the quota is exact however many store at once.
 */
export async function takeBackExcess(em: EntityManager, { quotaStoredBytes: max }: Config, inserted: readonly NewObject[]): Promise<Map<string, DomainError>> {
  if (max === null || inserted.length === 0) return new Map();
  const bytes = await storedBytesOf(em, [...new Set(inserted.map(({ organizationId }) => organizationId))]);
  const excess = new Map<string, DomainError>();
  // The last that came give way.
  for (const { id, organizationId, byteSize } of inserted.toReversed()) {
    const held = bytes.get(organizationId)!;
    if (held <= max) continue;
    bytes.set(organizationId, held - byteSize);
    excess.set(id, storedBytesExceeded(max));
  }
  if (excess.size > 0) await takeBack(em, [...excess.keys()]);
  return excess;
}

/** Undoes a change that made its organization's contents outgrow the quota. */
export async function refuseExcess({ em, config: { quotaStoredBytes: max } }: Context, organizationId: string): Promise<void> {
  if (max === null) return;
  const held = (await storedBytesOf(em, [organizationId])).get(organizationId);
  if (held !== undefined && held > max) throw storedBytesExceeded(max);
}

/** It does not reset: whoever deletes something has room again. */
const storedBytesExceeded = (max: number): DomainError =>
  new DomainError('quota_exceeded', `Your organization may store ${max} bytes of memory content, and this does not fit; delete what is no longer needed.`, { quota: 'stored_bytes', resets_at: null });
