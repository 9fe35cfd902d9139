import type { EntityManager } from '@mikro-orm/core';
import { query } from '#platform/database/query.ts';

/** Vectors of another model may have other dimensions; they are in another index or in none. */
const indexed = (dimensions: number): string => `approximate and vector_dims(embedding) = ${dimensions}`;

/**
 * How carefully a row is linked in. With pgvector's 64, one question in twenty at 100,000 notes on a few topics never left a
 * wrong topic and missed all ten of its nearest: recall@10 .94, with 200 .997. Searches cost the same; inserts a third more.
 */
const efConstruction = 200;

export async function createVectorIndex(em: EntityManager, dimensions: number): Promise<void> {
  await query(
    em,
    `create index if not exists passage_hnsw_${dimensions} on memory.passage
      using hnsw ((embedding::vector(${dimensions})) vector_ip_ops) with (ef_construction = ${efConstruction}) where ${indexed(dimensions)}`,
  );
}

/** A workspace too large to be scanned exactly that has passages outside the index; null when there is none. */
export async function findGrowingWorkspace(em: EntityManager, exactMax: number): Promise<string | null> {
  const [row] = await query<{ workspace_id: string }>(
    em,
    `select workspace_id from memory.passage group by workspace_id
     having count(*) > $1 and bool_or(not approximate) limit 1`,
    [exactMax],
  );
  return row?.workspace_id ?? null;
}

/** Answers how many rows went in. */
export async function addToVectorIndex(em: EntityManager, workspaceId: string, dimensions: number, rows: number): Promise<number> {
  const added = await query(
    em,
    `update memory.passage set approximate = true
      where id in (select id from memory.passage where workspace_id = $1 and not approximate and vector_dims(embedding) = ${dimensions} limit $2 for update skip locked)
     returning id`,
    [workspaceId, rows],
  );
  return added.length;
}

export async function countIndexed(em: EntityManager, workspaceId: string): Promise<number> {
  const [row] = await query<{ count: number }>(em, 'select count(*) as count from memory.passage where workspace_id = $1 and approximate', [workspaceId]);
  return row!.count;
}

/**
 * The nearest in the approximate index, which keeps `depth` candidates; see `nearestPassages`, whose parameters these are.
 * With iterative scan, so that a narrow filter still finds enough: without it, a tenant of 10 % got 4 of 10 results. The
 * settings are made by the statement that they are for: a transaction around it would be three statements more, and the scan
 * cannot begin before it has their row.
 */
export const approximateScan = (dimensions: number, source: string, depth: number): string => `
  with settings as materialized (select set_config('hnsw.ef_search', '${depth}', true) as depth, set_config('hnsw.iterative_scan', 'relaxed_order', true))
  select found.* from settings, lateral (
    select passage.seq, start_offset as "start", end_offset as "end", -(embedding::vector(${dimensions}) <#> $1::vector(${dimensions})) as similarity
      from memory.passage${source}
     where settings.depth is not null and passage.workspace_id = $2 and model = $3 and ${indexed(dimensions)}
     order by embedding::vector(${dimensions}) <#> $1::vector(${dimensions})
     limit $4
  ) as found`;
