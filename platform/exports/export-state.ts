import type { EntityManager } from '@mikro-orm/core';
import { query } from '../database/query.ts';
import { checkTransition } from '../state-machine.ts';
import type { Transitions } from '../state-machine.ts';

export enum ExportState {
  QUEUED = 'queued',
  RUNNING = 'running',
  SUCCEEDED = 'succeeded',
  FAILED = 'failed',
}

/** Running again: each area's part begins by itself, and may begin more than once. */
export const exportTransitions: Transitions<ExportState> = {
  [ExportState.QUEUED]: [ExportState.RUNNING],
  [ExportState.RUNNING]: [ExportState.RUNNING, ExportState.SUCCEEDED, ExportState.FAILED],
  [ExportState.SUCCEEDED]: [],
  [ExportState.FAILED]: [],
};

/** Locks the export until the end of the transaction, so that of parts that finish together one sees the other. */
export async function lockExport(em: EntityManager, exportId: string): Promise<ExportState> {
  const [row] = await query<{ state: ExportState }>(em, 'select state from platform.export where id = $1 for update', [exportId]);
  return row!.state;
}

export async function moveExport(em: EntityManager, exportId: string, from: ExportState, to: ExportState, expiresAt: Date | null = null): Promise<void> {
  checkTransition(exportTransitions, 'full export', from, to);
  await query(em, 'update platform.export set state = $2, expires_at = $3 where id = $1', [exportId, to, expiresAt]);
}
