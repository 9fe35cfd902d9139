import type { Context } from '#platform/context.ts';
import { query } from '#platform/database/query.ts';
import { transaction } from '#platform/database/transaction.ts';
import { recordEvents } from '#platform/outbox/record-events.ts';
import { memoryEvents } from '../events.ts';
import { enqueueMeilisearch } from '../jobs/index-meilisearch.ts';
import { forgetPassages } from '../queries/forget-passages.ts';

/** So many objects at a time, so that nobody waits long for the database. */
const portion = 500;

/** Archives what has outlived its time, removes for good what has been deleted long enough, forgets rankings nobody can ask for. */
export async function sweepMemories(ctx: Context): Promise<void> {
  while ((await archiveExpired(ctx)) === portion);
  while ((await purgeDeleted(ctx)) === portion);
  await query(ctx.em, 'delete from memory.ranking where expires_at < $1', [ctx.clock.now()]);
}

function archiveExpired(ctx: Context): Promise<number> {
  const now = ctx.clock.now();
  return transaction(ctx.em, async (em) => {
    const archived = await query<{ id: string; organization_id: string; vault_id: string; workspace_id: string }>(
      em,
      `update memory.object set status = 'archived', archived_at = $1
        where id in (select id from memory.object where status = 'stored' and expires_at <= $1 order by expires_at limit $2 for update skip locked)
      returning id, organization_id, vault_id, workspace_id`,
      [now, portion],
    );
    const ids = archived.map(({ id }) => id);
    await forgetPassages(em, ids);
    await enqueueMeilisearch(ctx, em, ids);
    const events = [...Map.groupBy(archived, ({ workspace_id }) => workspace_id).values()].map((objects) => ({
      type: memoryEvents.archived,
      organizationId: objects[0]!.organization_id,
      vaultId: objects[0]!.vault_id,
      workspaceId: objects[0]!.workspace_id,
      subjectIds: objects.map(({ id }) => id),
    }));
    await recordEvents(em, events, now);
    return archived.length;
  });
}

function purgeDeleted(ctx: Context): Promise<number> {
  const until = new Date(ctx.clock.now().getTime() - ctx.config.vaultRetentionSeconds * 1000);
  return transaction(ctx.em, async (em) => {
    const [row] = await query<{ count: number }>(
      em,
      `with gone as (
         delete from memory.object
          where id in (select id from memory.object where status = 'deleted' and deleted_at <= $1 order by deleted_at limit $2 for update skip locked)
         returning workspace_id
       ), counted as (
         insert into memory.purged as known (workspace_id, objects) select workspace_id, count(*) from gone group by workspace_id
             on conflict (workspace_id) do update set objects = known.objects + excluded.objects
       )
       select count(*) as count from gone`,
      [until, portion],
    );
    return row!.count;
  });
}
