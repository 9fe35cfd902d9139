import type { EntityManager } from '@mikro-orm/core';
import { query } from '../database/query.ts';
import { transaction } from '../database/transaction.ts';
import { ExportState, lockExport, moveExport } from './export-state.ts';

/** One try at an area's part of an export. */
export interface Attempt {
  readonly exportId: string;
  readonly area: string;
  readonly number: number;
  readonly organizationId: string;
}

/** Begins (again): what an attempt before this one wrote is removed, and it can write no more. Null: nobody waits for this part any more. */
export function beginAttempt(em: EntityManager, exportId: string, area: string): Promise<Attempt | null> {
  return transaction(em, async (tx) => {
    const state = await lockExport(tx, exportId);
    if (state === ExportState.SUCCEEDED || state === ExportState.FAILED) return null;
    await moveExport(tx, exportId, state, ExportState.RUNNING);
    const [row] = await query<{ attempt: number; organization_id: string }>(
      tx,
      `update platform.export_part set attempt = attempt + 1, rows_total = null, rows_written = 0
         from platform.export where export_id = $1 and area = $2 and export.id = export_id returning attempt, organization_id`,
      [exportId, area],
    );
    await query(tx, 'delete from platform.export_chunk where export_id = $1 and area = $2', [exportId, area]);
    return { exportId, area, number: row!.attempt, organizationId: row!.organization_id };
  });
}

interface Chunk {
  readonly number: number;
  readonly bytes: Buffer;
  readonly rowsWritten: number;
  readonly rowsTotal: number;
}

export async function writeChunk(em: EntityManager, attempt: Attempt, { number, bytes, rowsWritten, rowsTotal }: Chunk): Promise<void> {
  const written = await query(
    em,
    `with part as (
       update platform.export_part set rows_written = $4, rows_total = $5 where export_id = $1 and area = $2 and attempt = $3 returning export_id, area
     )
     insert into platform.export_chunk (export_id, area, number, bytes) select export_id, area, $6::int, $7::bytea from part returning number`,
    [attempt.exportId, attempt.area, attempt.number, rowsWritten, rowsTotal, number, bytes],
  );
  if (written.length === 0) throw supplanted(attempt);
}

/** The last part to finish makes the export succeed. */
export async function finishPart(em: EntityManager, attempt: Attempt, expiresAt: Date): Promise<void> {
  const state = await lockExport(em, attempt.exportId);
  const finished = await query(
    em,
    'update platform.export_part set is_finished = true where export_id = $1 and area = $2 and attempt = $3 returning area',
    [attempt.exportId, attempt.area, attempt.number],
  );
  if (finished.length === 0) throw supplanted(attempt);
  const unfinished = await query(em, 'select from platform.export_part where export_id = $1 and not is_finished', [attempt.exportId]);
  if (unfinished.length === 0) await moveExport(em, attempt.exportId, state, ExportState.SUCCEEDED, expiresAt);
}

/** Without one part there is no export: what the other areas wrote, or are still writing, goes too. */
export async function failExport(em: EntityManager, exportId: string): Promise<void> {
  const state = await lockExport(em, exportId);
  if (state === ExportState.FAILED) return;
  await moveExport(em, exportId, state, ExportState.FAILED);
  await query(em, 'delete from platform.export_part where export_id = $1', [exportId]);
}

const supplanted = ({ exportId, area, number }: Attempt): Error => new Error(`Attempt ${number} at ${area} of ${exportId} is no longer the one that counts.`);
