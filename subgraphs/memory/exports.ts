import { countOf, tableFile } from '#platform/exports/export-file.ts';
import type { ExportFile } from '#platform/exports/export-file.ts';
import { exportedObjects } from './queries/exported-objects.ts';

const objects: ExportFile = {
  name: 'memory/objects',
  count: ({ em, organizationId }) => countOf(em, `select count(*) as count from memory.object where organization_id = $1 and status <> 'deleted'`, organizationId),
  async *rows({ em, organizationId }) {
    let after = '';
    for (;;) {
      const portion = await exportedObjects(em, organizationId, after);
      if (portion.length === 0) return;
      yield* portion;
      after = portion.at(-1)!.id;
    }
  },
};

const statistics = tableFile({
  name: 'memory/statistics',
  from: `(select organization_id, workspace_id,
                 count(*) filter (where status = 'stored') as stored,
                 count(*) filter (where status = 'archived') as archived,
                 count(*) filter (where status = 'deleted') as deleted,
                 coalesce(sum(byte_size) filter (where status <> 'deleted'), 0)::bigint as bytes
            from memory.object group by organization_id, workspace_id) as statistics`,
  columns: 'workspace_id, stored, archived, deleted, bytes, coalesce((select objects from memory.purged where purged.workspace_id = statistics.workspace_id), 0) as purged',
  key: 'workspace_id',
});

/** What is deleted already waits only to be removed: it is counted, not given. */
export const memoryExports = [objects, statistics];
