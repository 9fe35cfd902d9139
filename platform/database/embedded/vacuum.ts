import type { Database } from '../database.ts';

/**
 * What PostgreSQL's autovacuum does, by its default thresholds: the embedded engine is a single process and has none, so
 * deleted rows (every finished job is one) would pile up and the planner would know nothing of its tables.
 * A small sample keeps ANALYZE short, because nobody is answered meanwhile.
 */
export async function vacuum(database: Database): Promise<void> {
  const tables = await database.execute<{ name: string; dead: boolean; changed: boolean }>(`
    select format('%I.%I', schemaname, relname) as name,
           n_dead_tup > 50 + 0.2 * n_live_tup as dead,
           n_mod_since_analyze > 50 + 0.1 * n_live_tup as changed
      from pg_stat_user_tables where n_dead_tup > 50 or n_mod_since_analyze > 50`);
  await database.execute('set default_statistics_target = 10');
  for (const { name, dead, changed } of tables) {
    if (dead) await database.execute(`vacuum (analyze) ${name}`);
    else if (changed) await database.execute(`analyze ${name}`);
  }
}
