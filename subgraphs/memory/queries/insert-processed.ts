import type { EntityManager } from '@mikro-orm/core';
import { query } from '#platform/database/query.ts';
import { vectorArrayParameter } from '#platform/database/vector.ts';
import type { EmbeddedPassage } from '../ports/embedder.ts';
import type { PendingContent } from './pending-contents.ts';

export interface Processed extends Omit<PendingContent, 'content'> {
  readonly passages: readonly EmbeddedPassage[];
  readonly entities: readonly string[];
}

/**
 * Keeps what processing made, for those objects that still are what was processed: live, with the same content number.
 * Answers their ids. A second run over the same content with the same model changes nothing.
 */
export async function insertProcessed(em: EntityManager, processed: readonly Processed[], model: string, now: Date): Promise<Set<string>> {
  const rows = await query<{ object_id: string }>(
    em,
    `with current as (
       select object.id, object.seq, made.entities
         from jsonb_to_recordset($1::jsonb) as made(id text, seq bigint, entities text[])
         join memory.object on object.id = made.id and object.seq = made.seq and object.status = 'stored'
          for share of object
     )
     insert into memory.processing as known (object_id, seq, entities, completed_at)
     select id, seq, entities, $2::timestamptz from current
         on conflict (object_id) do update set seq = excluded.seq, entities = excluded.entities, completed_at = excluded.completed_at
           where known.seq <> excluded.seq or exists (select from memory.passage where passage.object_id = known.object_id and model <> $3)
     returning object_id`,
    [JSON.stringify(processed.map(({ id, seq, entities }) => ({ id, seq, entities }))), now, model],
  );
  const current = new Set(rows.map(({ object_id }) => object_id));
  const passages = processed.filter(({ id }) => current.has(id)).flatMap((object) => object.passages.map((passage) => ({ ...passage, object })));
  if (passages.length > 0) {
    await query(
      em,
      `with replaced as (delete from memory.passage where object_id = any($1::text[]))
       insert into memory.passage (object_id, seq, workspace_id, start_offset, end_offset, model, embedding)
       select object_id, seq, workspace_id, start_offset, end_offset, $6, embedding
         from unnest($1::text[], $2::bigint[], $3::text[], $4::int[], $5::int[], $7::vector[]) as made(object_id, seq, workspace_id, start_offset, end_offset, embedding)`,
      [
        passages.map(({ object }) => object.id),
        passages.map(({ object }) => object.seq),
        passages.map(({ object }) => object.workspaceId),
        passages.map(({ start }) => start),
        passages.map(({ end }) => end),
        model,
        vectorArrayParameter(passages.map(({ vector }) => vector)),
      ],
    );
  }
  return current;
}
