import type { EntityManager } from '@mikro-orm/core';
import { query } from '#platform/database/query.ts';

const rowsMax = 500;
/** Of contents at a time; the last may go beyond it, by the 1 MB that a content may have. */
const bytesMax = 4_194_304;

interface ExportedObject {
  readonly id: string;
}

/**
 * The next objects of an organization by id, with what processing made of them. Sizes come first, so that no more contents
 * are read than fit. There is no index for this order: one on (organization_id, id) would slow every store for the sake of
 * one pass over the primary key per export.
 */
export function exportedObjects(em: EntityManager, organizationId: string, after: string): Promise<ExportedObject[]> {
  return query<ExportedObject>(
    em,
    `with page as (
       select id, byte_size from memory.object where organization_id = $1 and id > $2 and status <> 'deleted' order by id limit ${rowsMax}
     ), measured as (
       select id, sum(byte_size) over (order by id) - byte_size as bytes_before from page
     )
     select object.id, vault_id, workspace_id, content, 'sha256:' || encode(content_hash, 'hex') as content_hash, byte_size, metadata, status,
            created_at, updated_at, archived_at, expires_at, case when processing.entities is null then 'pending' else 'completed' end as processing, processing.entities
       from measured
       join memory.object on object.id = measured.id
       left join memory.processing on processing.object_id = object.id and processing.seq = object.seq
      where bytes_before < ${bytesMax}
      order by object.id`,
    [organizationId, after],
  );
}
