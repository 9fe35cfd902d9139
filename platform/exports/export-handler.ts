import type { Context } from '../context.ts';
import type { JobHandler } from '../jobs/worker.ts';
import { membersOf } from './archive.ts';
import { exportJobOf } from './export-job.ts';
import type { ExportFile } from './export-file.ts';
import { beginAttempt, failExport, finishPart, writeChunk } from './export-part.ts';
import type { Attempt } from './export-part.ts';

const attemptsMax = 5;

/** Writes an area's part of the archive into the database, from where any gateway can serve it. */
export function exportHandler(area: string, files: readonly ExportFile[]): JobHandler<Context, ReturnType<typeof exportJobOf>> {
  return {
    job: exportJobOf(area),
    batchSize: 1,
    run: async (ctx, [input], commit) => {
      const attempt = await beginAttempt(ctx.em, input!.exportId, area);
      if (attempt === null) return;
      try {
        // More were begun than may fail: the ones before took their process with them.
        if (attempt.number > attemptsMax) throw new Error('Every attempt before this one died.');
        await writePart(ctx, attempt, files);
      } catch (error) {
        if (attempt.number < attemptsMax) throw error;
        ctx.logger.error({ err: error, exportId: attempt.exportId, area }, 'a full export failed');
        return commit((em) => failExport(em, attempt.exportId));
      }
      const expiresAt = new Date(ctx.clock.now().getTime() + ctx.config.exportTtlSeconds * 1000);
      await commit((em) => finishPart(em, attempt, expiresAt));
    },
  };
}

async function writePart({ em, clock }: Context, attempt: Attempt, files: readonly ExportFile[]): Promise<void> {
  const scope = { em, organizationId: attempt.organizationId };
  let rowsTotal = 0;
  for (const file of files) rowsTotal += await file.count(scope);
  let number = 0;
  for await (const member of membersOf(files, scope, clock.now())) await writeChunk(em, attempt, { ...member, rowsTotal, number: (number += 1) });
}
