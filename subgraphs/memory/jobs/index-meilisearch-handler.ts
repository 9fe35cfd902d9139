import type { Context } from '#platform/context.ts';
import { enqueue } from '#platform/jobs/job.ts';
import type { JobHandler } from '#platform/jobs/worker.ts';
import { agreeWithMeilisearch } from '../operations/agree-with-meilisearch.ts';
import type { MemoryPorts } from '../ports/ports.ts';
import { indexMeilisearch } from './index-meilisearch.ts';

/** While Meilisearch is away its jobs wait, and are tried every few seconds; a task that it refuses fails the job. */
export const indexMeilisearchHandler: JobHandler<Context<MemoryPorts>, typeof indexMeilisearch> = {
  job: indexMeilisearch,
  batchSize: 50,
  run: async (ctx, inputs, commit) => {
    const { index, circuit } = ctx.ports.meilisearch!;
    const ids = [...new Set(inputs.flatMap((input) => input.ids))];
    const changed = await circuit.call(() => agreeWithMeilisearch(ctx.em, index, ids));
    await commit(async (em) => {
      if (changed === null) await enqueue(em, indexMeilisearch, inputs, { startAfter: retrySeconds });
      else if (changed.length > 0) await enqueue(em, indexMeilisearch, [{ ids: changed }]);
    });
  },
};

const retrySeconds = 5;
