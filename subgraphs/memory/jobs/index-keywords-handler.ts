import type { Context } from '#platform/context.ts';
import { transaction } from '#platform/database/transaction.ts';
import type { JobHandler } from '#platform/jobs/worker.ts';
import type { KeywordChange } from '../ports/keyword-index.ts';
import type { MemoryPorts } from '../ports/ports.ts';
import { pendingContents } from '../queries/pending-contents.ts';
import { indexKeywords } from './index-keywords.ts';
import { enqueueMeilisearch } from './index-meilisearch.ts';

/** Takes every waiting job at once: one segment for all of them costs less than one each, and keeps the index within 2 s. */
export const indexKeywordsHandler: JobHandler<Context<MemoryPorts>, typeof indexKeywords> = {
  job: indexKeywords,
  batchSize: 50,
  run: async (ctx, inputs, commit) => {
    const { keywords } = ctx.ports;
    const workspaceIds = new Set<string>();
    const changes: KeywordChange[] = [];
    for await (const contents of pendingContents(ctx.em, inputs.flatMap(({ ids }) => ids))) {
      for (const [workspaceId, documents] of Map.groupBy(contents, (content) => content.workspaceId)) {
        workspaceIds.add(workspaceId);
        changes.push(await keywords.prepare(workspaceId, documents));
      }
    }
    await commit(async (em) => {
      for (const change of changes) await change(em);
      for (const { ids } of inputs) await enqueueMeilisearch(ctx, em, ids);
    });
    for (const workspaceId of workspaceIds) {
      const merge = await keywords.prepareMerge(ctx.em, workspaceId);
      if (merge) await transaction(ctx.em, merge);
    }
  },
};
