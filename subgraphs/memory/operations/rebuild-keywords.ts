import type { Context } from '#platform/context.ts';
import { query } from '#platform/database/query.ts';
import { transaction } from '#platform/database/transaction.ts';
import type { MemoryPorts } from '../ports/ports.ts';
import { pendingContents } from '../queries/pending-contents.ts';
import { allStored, countAllStored } from '../queries/searchable-objects.ts';
import type { Report } from './rebuild-meilisearch.ts';

/**
 * New segments for all workspaces; then the old ones go. In between an object stands in two, which a search counts as one,
 * and what is stored meanwhile makes its own segment: nothing is ever missing.
 */
export async function rebuildKeywords(ctx: Context<MemoryPorts>, report: Report): Promise<void> {
  const { keywords } = ctx.ports;
  const old = await query<{ id: number }>(ctx.em, 'select id from memory.keyword_segment');
  const total = await countAllStored(ctx.em);
  const workspaceIds = new Set<string>();
  let done = 0;
  for await (const objects of allStored(ctx.em, portion)) {
    for await (const contents of pendingContents(ctx.em, objects.map(({ id }) => id))) {
      for (const [workspaceId, documents] of Map.groupBy(contents, (content) => content.workspaceId)) {
        workspaceIds.add(workspaceId);
        await transaction(ctx.em, await keywords.prepare(workspaceId, documents));
      }
    }
    report((done += objects.length), total);
  }
  await query(ctx.em, 'delete from memory.keyword_segment where id = any($1::bigint[])', [old.map(({ id }) => id)]);
  for (const workspaceId of workspaceIds) {
    for (let merge = await keywords.prepareMerge(ctx.em, workspaceId); merge; merge = await keywords.prepareMerge(ctx.em, workspaceId)) await transaction(ctx.em, merge);
  }
}

const portion = 5000;
