import type { Context } from '#platform/context.ts';
import type { JobHandler } from '#platform/jobs/worker.ts';
import { recordEvents } from '#platform/outbox/record-events.ts';
import { addUsage } from '#platform/usage/usage.ts';
import { memoryEvents } from '../events.ts';
import type { MemoryPorts } from '../ports/ports.ts';
import { insertProcessed } from '../queries/insert-processed.ts';
import type { Processed } from '../queries/insert-processed.ts';
import { pendingContents } from '../queries/pending-contents.ts';
import type { PendingContent } from '../queries/pending-contents.ts';
import { embed } from './embed.ts';

export const embedHandler: JobHandler<Context<MemoryPorts>, typeof embed> = {
  job: embed,
  // Two, because a worker that takes one at a time waits for the next poll after each (pg-boss goes on at once after full batches only).
  batchSize: 2,
  // The embedder shares its threads among those who ask: a small object does not wait for the 1 MB before it.
  concurrency: 3,
  run: async (ctx, inputs, commit) => {
    const { embedder, entities } = ctx.ports;
    const processed: Processed[] = [];
    const seconds = new Map<string, number>();
    for await (const objects of pendingContents(ctx.em, inputs.flatMap(({ ids }) => ids))) {
      const startedAt = performance.now();
      const contents = objects.map(({ content }) => content);
      const [passages, found] = await Promise.all([embedder.embedContents(contents), entities.extract(contents)]);
      objects.forEach(({ content: _content, ...object }, index) => processed.push({ ...object, passages: passages[index]!, entities: found[index]! }));
      share(seconds, objects, (performance.now() - startedAt) / 1000);
    }
    await commit(async (em) => {
      const now = ctx.clock.now();
      const current = await insertProcessed(em, processed, embedder.model, now);
      const byWorkspace = Map.groupBy(processed.filter(({ id }) => current.has(id)), ({ workspaceId }) => workspaceId);
      const events = [...byWorkspace.values()].map((objects) => ({ ...objects[0]!, type: memoryEvents.processed, isLive: true, subjectIds: objects.map(({ id }) => id) }));
      await recordEvents(em, events, now);
      if (ctx.config.quotaComputeSeconds !== null && seconds.size > 0) await addUsage(em, 'compute_seconds', seconds, now);
    });
  },
};

/** Objects of several organizations are embedded together; each pays by the length of its contents. */
function share(seconds: Map<string, number>, objects: readonly PendingContent[], spent: number): void {
  const length = objects.reduce((sum, { content }) => sum + content.length, 0);
  for (const { organizationId, content } of objects) seconds.set(organizationId, (seconds.get(organizationId) ?? 0) + (spent * content.length) / length);
}
