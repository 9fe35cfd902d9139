import { pino } from 'pino';
import { z } from 'zod';
import { openDatabase } from '../../platform/database/database.ts';
import { query } from '../../platform/database/query.ts';
import { defineJob } from '../../platform/jobs/job.ts';
import { startJobs } from '../../platform/jobs/worker.ts';

/** A process that takes its jobs and is stuck in the middle of an effect that is made but not committed. */
const [url, dataDir] = process.argv.slice(2);
const database = await openDatabase({ url: url || null, dataDir: dataDir!, entities: [], poolMax: 4, logger: pino({ level: 'silent' }) });
await startJobs({
  database,
  makeContext: () => null,
  logger: pino({ level: 'silent' }),
  handlers: [
    {
      job: defineJob({ name: 'demo.crash', input: z.object({ n: z.number() }) }),
      batchSize: 10,
      run: (_ctx, _inputs, commit) =>
        commit(async (em) => {
          await query(em, `insert into effect values (-1)`);
          process.stdout.write('in hand\n');
          await new Promise(() => {});
        }),
    },
  ],
});
