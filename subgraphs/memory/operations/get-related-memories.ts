import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { query } from '#platform/operation.ts';
import type { RetrievalResult } from '../entities/retrieval.ts';
import type { MemoryPorts } from '../ports/ports.ts';
import { centerOf } from '../queries/center-of.ts';
import { noFilter } from '../queries/filter.ts';
import { nearestPassages } from '../queries/nearest-passages.ts';
import { getMemory } from './get-memory.ts';
import { resultsOf } from './retrieve-memories.ts';

/** The objects of the same workspace nearest in meaning to one; none until it has been embedded. */
export const getRelatedMemories = query({
  name: 'getRelatedMemories',
  requires: 'vaultRead',
  input: z.strictObject({ id: z.string(), limit: z.number().int('must be a whole number').min(1, 'must be 1 to 100').max(100, 'must be 1 to 100').nullish() }),
  run: async (ctx: Context<MemoryPorts>, { id, limit }): Promise<RetrievalResult[]> => {
    const object = await getMemory(ctx, { id });
    const { model } = ctx.ports.embedder;
    const vector = await centerOf(ctx.em, object.id, model);
    if (vector === null) return [];
    const wanted = limit ?? 10;
    const { workspaceId } = object;
    // One more, because the nearest to an object is the object.
    const passages = await nearestPassages(ctx.em, { workspaceId, vector, model, filter: noFilter, limit: wanted + 1, exactMax: ctx.config.vectorExactMax });
    const ranked = passages.filter(({ seq }) => seq !== object.seq).slice(0, wanted);
    return resultsOf(ctx, workspaceId, [], ranked.map(({ similarity, ...passage }) => ({ ...passage, score: Math.min(1, Math.max(0, similarity)) })));
  },
});
