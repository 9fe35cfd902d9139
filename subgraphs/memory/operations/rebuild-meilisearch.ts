import type { Context } from '#platform/context.ts';
import type { MemoryPorts } from '../ports/ports.ts';
import { allStored, countAllStored, findableSeqs } from '../queries/searchable-objects.ts';
import { agreeWithMeilisearch } from './agree-with-meilisearch.ts';

export type Report = (done: number, total: number) => void;

/** Everything that may be found goes to Meilisearch, everything else out of it; then searches are answered from there. */
export async function rebuildMeilisearch(ctx: Context<MemoryPorts>, report: Report): Promise<void> {
  const { index } = ctx.ports.meilisearch!;
  const total = await countAllStored(ctx.em);
  let done = 0;
  for await (const objects of allStored(ctx.em, portion)) {
    for (let ids = objects.map(({ id }) => id); ids.length > 0; ) ids = await agreeWithMeilisearch(ctx.em, index, ids);
    report((done += objects.length), total);
  }
  await index.removeStale((seqs) => findableSeqs(ctx.em, seqs));
  await index.markFilled();
}

const portion = 1000;
