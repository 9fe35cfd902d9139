import type { EntityManager } from '@mikro-orm/core';
import { LRUCache } from 'lru-cache';
import { query } from '#platform/database/query.ts';
import { vectorParameter } from '#platform/database/vector.ts';
import { filterConditions } from './filter.ts';
import type { RetrieveFilter } from './filter.ts';
import { approximateScan } from './vector-index.ts';

export interface NearPassage {
  readonly seq: number;
  readonly start: number;
  readonly end: number;
  /** Cosine of the angle between the vectors. */
  readonly similarity: number;
}

export interface NearestQuery {
  readonly workspaceId: string;
  readonly vector: Float32Array;
  readonly model: string;
  readonly filter: RetrieveFilter;
  /** How many objects are wanted. */
  readonly limit: number;
  /** Up to so many passages are compared one by one. */
  readonly exactMax: number;
}

/** The objects nearest in meaning, each by its best passage, nearest first. */
export async function nearestPassages(em: EntityManager, asked: NearestQuery): Promise<NearPassage[]> {
  const narrowed = filterConditions(asked.filter, 5);
  const source = joinOf(narrowed.sql);
  const parameters = (limit: number) => [vectorParameter(asked.vector), asked.workspaceId, asked.model, limit, ...narrowed.params];
  const scan = (approximate: string) => `
    select passage.seq, start_offset as "start", end_offset as "end", -(embedding <#> $1::vector) as similarity
      from memory.passage${source}
     where passage.workspace_id = $2 and model = $3${approximate}
     order by embedding <#> $1::vector
     limit $4`;
  if (await isSmall(em, asked)) return bestOfEach(await query<NearPassage>(em, scan(''), parameters(asked.limit)), asked.limit);
  // What the approximate index does not hold yet is compared one by one.
  const depth = parameters(Math.min(asked.limit, approximateMax));
  const [indexed, recent] = await Promise.all([
    query<NearPassage>(em, approximateScan(asked.vector.length, source, approximateMax), depth),
    query<NearPassage>(em, scan(' and not approximate'), depth),
  ]);
  return bestOfEach([...indexed, ...recent].sort((a, b) => b.similarity - a.similarity), asked.limit);
}

/** Found large a minute ago: to count 20,000 index entries again would cost every search 2 to 3 ms. */
const large = new LRUCache<string, true>({ max: 10_000, ttl: 60_000 });

/** Few enough to compare them all: perfect recall, and fast enough. */
async function isSmall(em: EntityManager, { workspaceId, filter, exactMax }: NearestQuery): Promise<boolean> {
  const narrowed = filterConditions(filter, 3);
  const isWhole = narrowed.sql === '';
  if (isWhole && large.has(workspaceId)) return false;
  const [row] = await query<{ count: number }>(
    em,
    `select count(*) as count from (
       select 1 from memory.passage${joinOf(narrowed.sql)} where passage.workspace_id = $1 limit $2
     ) as counted`,
    [workspaceId, exactMax + 1, ...narrowed.params],
  );
  if (row!.count <= exactMax) return true;
  if (isWhole) large.set(workspaceId, true);
  return false;
}

/** Passages belong to live objects only, so without a filter the objects need not be looked at. */
const joinOf = (conditions: string): string => (conditions === '' ? '' : ` join memory.object on object.id = passage.object_id${conditions}`);

/**
 * How deep the approximate index is asked. At 100,000 passages on the embedded database 1,000 cost 23 ms, 400 cost 11 and
 * 200 cost 7. As ef it gives a recall of .997 for the first page (docs/decisions/0012-vector-index.md).
 */
const approximateMax = 400;

/** Passages come best first, so the first of an object is its best. */
function bestOfEach(passages: readonly NearPassage[], limit: number): NearPassage[] {
  const best = new Map<number, NearPassage>();
  for (const passage of passages) if (!best.has(passage.seq)) best.set(passage.seq, passage);
  return [...best.values()].slice(0, limit);
}
