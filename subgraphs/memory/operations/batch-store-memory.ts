import type { EntityManager } from '@mikro-orm/core';
import { z } from 'zod';
import { DomainError, isAccepted } from '#platform/errors.ts';
import { fingerprint } from '#platform/idempotency.ts';
import { groupedCommand, parseInput, withReceipts } from '#platform/operation.ts';
import type { Call } from '#platform/operation.ts';
import { batchSizeMax, storeInput } from '../content-rules.ts';
import type { MemoryPorts } from '../ports/ports.ts';
import { storeObjects } from './store-objects.ts';
import type { StoreCall, StoreReceipt } from './store-objects.ts';

export interface BatchReceipt {
  readonly stored: number;
  readonly failed: number;
  /** In the order of the request. */
  readonly results: readonly BatchResult[];
}

export interface BatchResult {
  readonly index: number;
  readonly id: string | null;
  readonly status: 'stored' | 'failed';
  readonly error: { readonly code: string; readonly message: string; readonly existingId: string | null } | null;
}

/**
 * Stores up to 100 objects. Elements that are invalid or duplicates are reported; all others are stored in one transaction,
 * together or, on a fault, none (decisions 8).
 */
export const batchStoreMemory = groupedCommand({
  name: 'batchStoreMemory',
  requires: 'vaultWrite',
  // Elements are checked one by one, so that a bad one fails alone.
  input: z.strictObject({ memories: z.array(z.unknown()).min(1, 'must hold at least one object').max(batchSizeMax, `must hold at most ${batchSizeMax} objects`) }),
  keeps: ({ stored }) => stored > 0,
  subjectsOf: (_input, { results }: BatchReceipt) => results.flatMap(({ id }) => id ?? []),
  runGroup: async (em: EntityManager, batches: readonly Call<MemoryPorts, { memories: unknown[] }>[]): Promise<(BatchReceipt | DomainError)[]> => {
    const elements = batches.map((batch) => batch.input.memories.map((memory) => elementOf(batch, memory)));
    const calls = elements.flat().filter(isAccepted<StoreCall>);
    const results = calls.length > 0 ? await withReceipts(em, calls, storeObjects) : [];
    const outcomes = new Map(calls.map((call, index) => [call, results[index]]));
    return elements.map((batch) => {
      const found = batch.map((element) => (element instanceof DomainError ? element : outcomes.get(element)));
      return refusalOf(found) ?? receiptOf(found);
    });
  },
});

function elementOf({ ctx }: Call<MemoryPorts, unknown>, memory: unknown): StoreCall | DomainError {
  const input = parseInput(storeInput, memory);
  if (input instanceof DomainError) return input;
  const key = input.idempotencyKey ? { key: input.idempotencyKey, fingerprint: fingerprint(['storeMemory', memory]) } : null;
  // An element that was stored before is replayed alone: that says nothing of the whole answer.
  return { ctx, input, key, answer: { replayed: false } };
}

/** A quota that let nothing in refuses the batch; one that let a part in is told element by element. */
const refusalOf = (outcomes: readonly unknown[]): DomainError | undefined =>
  outcomes.every((outcome) => outcome instanceof DomainError) ? outcomes.find((outcome) => outcome.code === 'quota_exceeded') : undefined;

function receiptOf(outcomes: readonly unknown[]): BatchReceipt {
  const results = outcomes.map((outcome, index): BatchResult => {
    if (!(outcome instanceof DomainError)) return { index, id: (outcome as StoreReceipt).id, status: 'stored', error: null };
    const existingId = (outcome.fields.existing_id as string | undefined) ?? null;
    return { index, id: null, status: 'failed', error: { code: outcome.code, message: outcome.message, existingId } };
  });
  const stored = results.filter(({ status }) => status === 'stored').length;
  return { stored, failed: results.length - stored, results };
}
