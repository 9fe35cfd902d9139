import type { Context } from '#platform/context.ts';
import type { MemoryPorts } from '../ports/ports.ts';
import { addToVectorIndex, countIndexed, createVectorIndex, findGrowingWorkspace } from '../queries/vector-index.ts';

/**
 * An insert into HNSW costs about 5 ms on the embedded database, which answers nobody else meanwhile: so few rows at a time
 * that a reader in between waits no longer than for a slow query.
 */
const rowsAtOnce = 3;

/** Then others have their turn, and a stop is noticed. */
const sliceMs = 5_000;

/**
 * Moves the passages of large workspaces into the approximate index. No vector index is maintained while storing (that
 * costs 20 to 30 times the insert); until a passage is in, searches compare it exactly.
 */
export async function indexVectors(ctx: Context<MemoryPorts>): Promise<boolean> {
  const until = performance.now() + sliceMs;
  const workspaceId = await findGrowingWorkspace(ctx.em, ctx.config.vectorExactMax);
  if (workspaceId === null) return false;
  const { dimensions } = ctx.ports.embedder;
  await createVectorIndex(ctx.em, dimensions);
  while (performance.now() < until) {
    if ((await addToVectorIndex(ctx.em, workspaceId, dimensions, rowsAtOnce)) > 0) continue;
    ctx.logger.info({ workspaceId, passages: await countIndexed(ctx.em, workspaceId) }, 'the approximate index is complete');
    return true;
  }
  return true;
}
