import type { Database } from './database.ts';
import { query } from './query.ts';
import { transaction } from './transaction.ts';

/** A step of the schema's history, for example `memory/0001-initial`. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** Any number, as long as nobody else uses it: "quad" in ASCII. */
const LOCK = 0x71_75_61_64;

/** Applies each migration once, in order, in a transaction of its own. Several processes may do so at the same time. */
export async function migrate(database: Database, migrations: readonly Migration[]): Promise<void> {
  await step(database, (em) =>
    query(em, `create schema if not exists platform; create table if not exists platform.migration (name text primary key, applied_at timestamptz not null default now())`),
  );
  for (const { name, sql } of migrations) {
    await step(database, async (em) => {
      const inserted = await query(em, `insert into platform.migration (name) values ($1) on conflict do nothing returning name`, [name]);
      if (inserted.length > 0) await query(em, sql);
    });
  }
}

const step = (database: Database, run: Parameters<typeof transaction<unknown>>[1]): Promise<unknown> =>
  transaction(database.orm.em.fork(), async (em) => {
    await query(em, `select pg_advisory_xact_lock($1)`, [LOCK]);
    return run(em);
  });
