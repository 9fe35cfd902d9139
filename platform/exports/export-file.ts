import type { EntityManager } from '@mikro-orm/core';
import { query } from '../database/query.ts';

export interface ExportScope {
  readonly em: EntityManager;
  readonly organizationId: string;
}

/** A kind of row that an area gives to a full export: one JSON object per line. Secrets and digests stay behind. */
export interface ExportFile {
  /** Its place in the archive, for example `memory/objects`. */
  readonly name: string;
  count(scope: ExportScope): Promise<number>;
  /** Read a portion at a time: the memory this takes must not grow with the rows. */
  rows(scope: ExportScope): AsyncIterable<object>;
}

interface Table {
  readonly name: string;
  /** What stands after `from`; it has a column organization_id. */
  readonly from: string;
  readonly columns: string;
  /** A unique expression to page by, and what is smaller than all of its values; by default the text `id`. */
  readonly key?: string;
  readonly first?: string | number;
}

/** Of small rows; whose rows may be large reads fewer at a time, by a statement of its own. */
const rowsMax = 500;

/** A table, or a part of one, whose rows are small. */
export function tableFile({ name, from, columns, key = 'id', first = '' }: Table): ExportFile {
  const page = `select ${columns}, ${key} as export_key from ${from} where organization_id = $1 and ${key} > $2 order by export_key limit ${rowsMax}`;
  return {
    name,
    count: ({ em, organizationId }) => countOf(em, `select count(*) as count from ${from} where organization_id = $1`, organizationId),
    async *rows({ em, organizationId }) {
      let after = first;
      for (let read = rowsMax; read === rowsMax; ) {
        const rows = await query<{ export_key: string | number }>(em, page, [organizationId, after]);
        for (const { export_key: key, ...row } of rows) {
          yield row;
          after = key;
        }
        read = rows.length;
      }
    },
  };
}

export async function countOf(em: EntityManager, statement: string, organizationId: string): Promise<number> {
  const [row] = await query<{ count: number }>(em, statement, [organizationId]);
  return row!.count;
}
