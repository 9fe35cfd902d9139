import type { EntityManager } from '@mikro-orm/core';
import type { Context } from '#platform/context.ts';
import { defineJob, enqueue } from '#platform/jobs/job.ts';
import { processInput } from './process-input.ts';

/** Makes Meilisearch agree with the database about these objects, whatever became of them. */
export const indexMeilisearch = defineJob({ name: 'memory.index-meilisearch', input: processInput });

/** In the transaction of whatever changes what a search may find; nothing where there is no Meilisearch. */
export async function enqueueMeilisearch({ config }: Pick<Context, 'config'>, em: EntityManager, ids: readonly string[]): Promise<void> {
  if (config.meiliUrl !== null && ids.length > 0) await enqueue(em, indexMeilisearch, [{ ids: [...ids] }]);
}
