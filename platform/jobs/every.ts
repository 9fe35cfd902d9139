import { z } from 'zod';
import type { Job } from './job.ts';
import { defineJob, enqueue } from './job.ts';
import type { JobHandler } from './worker.ts';

const nothing = z.object({});

/**
 * Work that is done at start and then again `seconds` after its last end, in one process at a time. It is a job that leaves
 * its successor behind, also when it fails; because it is exclusive there is never a second chain. Work that answers `true`
 * is not done yet: it goes on at once.
 */
export function every<Ctx>(seconds: number, name: string, run: (ctx: Ctx) => Promise<boolean | void>): JobHandler<Ctx, Job<typeof nothing>> {
  const job = defineJob({ name, input: nothing, exclusive: true, retryLimit: 2 ** 31 - 1 });
  return {
    job,
    batchSize: 1,
    atStart: {},
    periodSeconds: seconds,
    // Only for when the process that ran it last is no more. Half a second is the least pg-boss allows.
    pollingSeconds: Math.min(15, Math.max(0.5, 2 * seconds)),
    async run(ctx, _inputs, commit) {
      let isUnfinished: boolean | void = false;
      try {
        isUnfinished = await run(ctx);
      } finally {
        await commit((em) => enqueue(em, job, [{}], { startAfter: isUnfinished ? 0 : seconds }));
      }
    },
  };
}
