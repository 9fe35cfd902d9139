import type { EntityManager } from '@mikro-orm/core';
import type { Context } from '../context.ts';
import { query } from '../database/query.ts';
import { enqueue } from '../jobs/job.ts';
import { exportJobOf } from './export-job.ts';
import type { ExportState } from './export-state.ts';

export interface Export {
  readonly id: string;
  readonly state: ExportState;
  /** 0 to 1: the mean over the areas. */
  readonly progress: number;
  readonly expiresAt: Date | null;
}

interface NewExport {
  readonly id: string;
  readonly organizationId: string;
  readonly state: ExportState;
  readonly createdAt: Date;
}

/** A part and a job for each area, in the caller's transaction. */
export async function insertExport(em: EntityManager, { id, organizationId, state, createdAt }: NewExport, areas: readonly string[]): Promise<void> {
  await query(em, 'insert into platform.export (id, organization_id, state, created_at) values ($1, $2, $3, $4)', [id, organizationId, state, createdAt]);
  await query(em, 'insert into platform.export_part (export_id, area) select $1, unnest($2::text[])', [id, areas]);
  for (const area of areas) await enqueue(em, exportJobOf(area), [{ exportId: id }]);
}

export async function findExport(em: EntityManager, id: string, organizationId: string): Promise<Export | null> {
  const [row] = await query<Omit<Export, 'expiresAt'> & { expires_at: Date | null }>(
    em,
    `select id, state, expires_at,
            case state when 'succeeded' then 1 else coalesce(trunc((
              select avg(case when is_finished then 1 else least(coalesce(rows_written::numeric / nullif(rows_total, 0), 0), 1) end)
                from platform.export_part where export_id = id), 2), 0) end::float8 as progress
       from platform.export where id = $1 and organization_id = $2`,
    [id, organizationId],
  );
  if (!row) return null;
  const { expires_at: expiresAt, ...rest } = row;
  return { ...rest, expiresAt };
}

/** A download that began in time may take this long to end. */
const downloadMaxMs = 3_600_000;

/** Removes the archives whose address is no longer valid; that there was an export stays known. */
export async function forgetArchives({ em, clock }: Pick<Context, 'em' | 'clock'>): Promise<void> {
  const until = new Date(clock.now().getTime() - downloadMaxMs);
  await query(em, 'delete from platform.export_part using platform.export where export.id = export_id and expires_at < $1', [until]);
}
