import type { Context } from '#platform/context.ts';
import { transaction } from '#platform/database/transaction.ts';
import type { JobHandler } from '#platform/jobs/worker.ts';
import type { KeywordChange } from '../ports/keyword-index.ts';
import type { MemoryPorts } from '../ports/ports.ts';
import { pendingContents } from '../queries/pending-contents.ts';
import { indexKeywords } from './index-keywords.ts';
import { enqueueMeilisearch } from './index-meilisearch.ts';

/** Workspaces with new segments, until somebody looks whether they are to be merged; also those that come while others are seen to. */
const unmerged = new Set<string>();
let isMerging = false;

/** Takes every waiting job at once: one segment for all of them costs less than one each, and keeps the index within 2 s. */
export const indexKeywordsHandler: JobHandler<Context<MemoryPorts>, typeof indexKeywords> = {
  job: indexKeywords,
  batchSize: 50,
  // A merge takes up to some seconds: meanwhile another run makes new contents findable.
  concurrency: 2,
  run: async (ctx, inputs, commit) => {
    const { keywords } = ctx.ports;
    const changes: KeywordChange[] = [];
    const workspaceIds = new Set<string>();
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
    for (const workspaceId of workspaceIds) unmerged.add(workspaceId);
    await mergeSegments(ctx);
  },
};

/** One run at a time, until nothing is to be merged: the others leave theirs to it. */
async function mergeSegments({ em, ports }: Context<MemoryPorts>): Promise<void> {
  if (isMerging) return;
  isMerging = true;
  try {
    for (const workspaceId of unmerged) {
      unmerged.delete(workspaceId);
      for (let merge; (merge = await ports.keywords.prepareMerge(em, workspaceId)); ) await transaction(em, merge);
    }
  } finally {
    isMerging = false;
  }
}
