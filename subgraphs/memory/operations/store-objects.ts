import type { EntityManager } from '@mikro-orm/core';
import { DomainError, isAccepted } from '#platform/errors.ts';
import { newId } from '#platform/ids.ts';
import { enqueue } from '#platform/jobs/job.ts';
import type { Call } from '#platform/operation.ts';
import { recordEvents } from '#platform/outbox/record-events.ts';
import { workspaceScope } from '#platform/requirements.ts';
import type { StoreInput } from '../content-rules.ts';
import { digestOf, hashOf, processingOf } from '../entities/memory-object.ts';
import type { MemoryMetadata, MemoryProcessing } from '../entities/memory-object.ts';
import { MemoryStatus } from '../entities/memory-object.ts';
import { memoryEvents } from '../events.ts';
import { embed } from '../jobs/embed.ts';
import { indexKeywords } from '../jobs/index-keywords.ts';
import type { MemoryPorts } from '../ports/ports.ts';
import { contentKey, findLiveContents, insertObjects } from '../queries/insert-objects.ts';
import type { NewObject } from '../queries/insert-objects.ts';
import { refusalsOfCompute, takeBackExcess } from './quotas.ts';

export interface StoreReceipt {
  readonly id: string;
  readonly status: MemoryStatus;
  readonly vaultId: string;
  readonly workspaceId: string;
  readonly createdAt: string;
  readonly contentHash: string;
  readonly byteSize: number;
  readonly metadata: MemoryMetadata;
  readonly processing: MemoryProcessing;
}

export type StoreCall = Call<MemoryPorts, StoreInput>;

/** Stores any number of objects of any principals: rows, events and jobs in the one transaction of `em`. Answers one receipt or refusal each. */
export async function storeObjects(em: EntityManager, calls: readonly StoreCall[]): Promise<(StoreReceipt | DomainError)[]> {
  // One moment for the whole group: ids made after it sort the objects as they came.
  const { clock, config } = calls[0]!.ctx;
  const now = clock.now();
  const drafts = calls.map((call) => draftOf(call, now));
  const accepted = drafts.filter(isAccepted<NewObject>);
  const idle = await refusalsOfCompute(em, config, accepted.map(({ organizationId }) => organizationId), now);
  const objects = accepted.filter(({ organizationId }) => !idle.has(organizationId));
  const stored = objects.length > 0 ? await insertObjects(em, objects) : new Set<string>();
  const excess = await takeBackExcess(em, config, objects.filter(({ id }) => stored.has(id)));
  const fresh = objects.filter(({ id }) => stored.has(id) && !excess.has(id));
  const duplicates = objects.filter(({ id }) => !stored.has(id));
  const live = duplicates.length > 0 ? await findLiveContents(em, duplicates) : new Map<string, string>();
  if (fresh.length > 0) {
    await recordEvents(em, storedEvents(fresh), now);
    await enqueueProcessing(em, fresh);
  }
  return drafts.map((draft) => {
    if (draft instanceof DomainError) return draft;
    const overQuota = idle.get(draft.organizationId) ?? excess.get(draft.id);
    if (overQuota !== undefined) return overQuota;
    return stored.has(draft.id) ? receiptOf(draft) : duplicateOf(draft, live);
  });
}

/** Small jobs are quick to repeat; the workers take many of them at once. */
const objectsPerJob = 100;

/** What a person might be waiting for is embedded before a backlog of batches and books. */
const promptBytesMax = 20_000;

export async function enqueueProcessing(em: EntityManager, objects: readonly { id: string; byteSize: number }[]): Promise<void> {
  const inputs = [];
  for (let start = 0; start < objects.length; start += objectsPerJob) inputs.push({ ids: objects.slice(start, start + objectsPerJob).map(({ id }) => id) });
  const bytes = objects.reduce((sum, { byteSize }) => sum + byteSize, 0);
  await enqueue(em, indexKeywords, inputs);
  await enqueue(em, embed, inputs, { priority: bytes <= promptBytesMax ? 1 : 0 });
}

function draftOf({ ctx, input }: StoreCall, now: Date): NewObject | DomainError {
  const principal = ctx.principal!;
  try {
    return {
      id: newId('memory'),
      organizationId: principal.organizationId,
      vaultId: principal.vaultId,
      workspaceId: workspaceScope(principal, input.workspaceId, 'write'),
      content: input.content,
      contentDigest: digestOf(input.content),
      byteSize: Buffer.byteLength(input.content),
      metadata: input.metadata ?? {},
      createdAt: now,
      expiresAt: input.ttlSeconds == null ? null : new Date(now.getTime() + input.ttlSeconds * 1000),
    };
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
}

function receiptOf(object: NewObject): StoreReceipt {
  return {
    id: object.id,
    status: MemoryStatus.STORED,
    vaultId: object.vaultId,
    workspaceId: object.workspaceId,
    createdAt: object.createdAt.toISOString(),
    contentHash: hashOf(object.contentDigest),
    byteSize: object.byteSize,
    metadata: object.metadata as MemoryMetadata,
    processing: processingOf(null),
  };
}

function duplicateOf(object: NewObject, live: ReadonlyMap<string, string>): DomainError {
  const existingId = live.get(contentKey(object.workspaceId, object.contentDigest.toString('hex')));
  // It was live when the insert met it and is gone now: whoever repeats the request will store it.
  if (existingId === undefined) return new DomainError('unavailable', 'The same content was being deleted at this moment; try again.', { retry_after_seconds: 1 });
  return duplicateContent(existingId);
}

export const duplicateContent = (existingId: string): DomainError =>
  new DomainError('duplicate_content', `The workspace already holds this content as '${existingId}'.`, { existing_id: existingId });

/** One event per workspace, however many objects. */
function storedEvents(objects: readonly NewObject[]) {
  return [...Map.groupBy(objects, ({ workspaceId }) => workspaceId).values()].map((group) => ({
    type: memoryEvents.stored,
    organizationId: group[0]!.organizationId,
    vaultId: group[0]!.vaultId,
    workspaceId: group[0]!.workspaceId,
    subjectIds: group.map(({ id }) => id),
  }));
}

