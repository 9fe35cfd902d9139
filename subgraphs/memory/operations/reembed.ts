import type { Context } from '#platform/context.ts';
import { query } from '#platform/database/query.ts';
import { enqueue } from '#platform/jobs/job.ts';
import { transaction } from '#platform/database/transaction.ts';
import { embed } from '../jobs/embed.ts';
import type { MemoryPorts } from '../ports/ports.ts';
import type { Report } from './rebuild-meilisearch.ts';

/** Has everything embedded anew that another model than the present one embedded; old passages stay until then. */
export async function reembed(ctx: Context<MemoryPorts>, report: Report): Promise<void> {
  const { model } = ctx.ports.embedder;
  const [row] = await query<{ count: number }>(ctx.em, 'select count(distinct object_id) as count from memory.passage where model <> $1', [model]);
  let done = 0;
  for (let last = ''; ; ) {
    const objects = await query<{ id: string }>(ctx.em, 'select distinct object_id as id from memory.passage where model <> $1 and object_id > $2 order by 1 limit $3', [model, last, portion]);
    if (objects.length === 0) return;
    last = objects.at(-1)!.id;
    await transaction(ctx.em, (em) => enqueue(em, embed, [{ ids: objects.map(({ id }) => id) }]));
    report((done += objects.length), row!.count);
  }
}

/** As many as a store enqueues in one job. */
const portion = 100;
