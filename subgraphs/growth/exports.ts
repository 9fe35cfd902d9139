import { tableFile } from '#platform/exports/export-file.ts';

export const growthExports = [
  tableFile({ name: 'growth/systems', from: 'growth.system', columns: 'id, name', first: 0 }),
  tableFile({ name: 'growth/tracks', from: 'growth.track', columns: 'id, system_id, name, state, created_at', first: 0 }),
];
