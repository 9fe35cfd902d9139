import type { EntityClass } from '@mikro-orm/core';
import { MikroORM } from '@mikro-orm/postgresql';
import type pg from 'pg';
import type { Db } from 'pg-boss';
import type { Logger } from 'pino';
import { openSession } from './embedded/session.ts';
import { connectNotifications, Notifications } from './notifications.ts';
import { types } from './types.ts';
import { setVectorOid } from './vector.ts';

export interface Database {
  readonly orm: MikroORM;
  readonly engine: 'embedded' | 'server';
  /** Calls `onPayload` for every NOTIFY on the channel; the answer ends it. `onListening`: it has begun, or begun again after a lost connection. */
  listen(channel: string, onPayload: (payload: string) => void, onListening?: () => void): Promise<() => Promise<void>>;
  /** One statement outside any transaction. Never call it inside one: the embedded engine has a single session. */
  execute<Row = unknown>(text: string, params?: readonly unknown[]): Promise<Row[]>;
  /** What pg-boss takes as its connection. */
  readonly bossDatabase: Db;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** Null: the embedded engine in `dataDir`. */
  readonly url: string | null;
  readonly dataDir: string;
  readonly entities: EntityClass[];
  readonly poolMax: number;
  readonly logger: Logger;
}

/** Both engines are reached through the same driver (`pg`), so they give the same types, errors and notifications. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const engine = options.url === null ? await embeddedEngine(options) : serverEngine(options.url, options.poolMax);
  const orm = await MikroORM.init({
    entities: options.entities,
    discovery: { warnWhenNoEntities: false },
    dbName: engine.pool.database,
    driverOptions: { ...engine.pool, types },
    forceUtcTimezone: true,
    ensureDatabase: false,
    logger: (message) => options.logger.debug(message),
  });
  await orm.connect();
  const pool = await orm.em.getConnection().getNativeClient();
  const { notifications, close: closeNotifications } = await engine.notify(pool, options.logger);

  // Not pool.query, which throws a connection away after any error, and with it, on the embedded engine, what it listens to.
  const execute = async <Row>(text: string, params: readonly unknown[] = []): Promise<Row[]> => {
    const client = await pool.connect();
    try {
      return rowsOf<Row>(await client.query(text, [...params]));
    } catch (error) {
      // The text may have begun a transaction of its own.
      await client.query('rollback').catch(() => {});
      throw error;
    } finally {
      client.release();
    }
  };
  // Under a lock: two processes that create an extension at the same moment collide.
  await execute(`begin; select pg_advisory_xact_lock(1986359923); create extension if not exists vector; commit`);
  const [row] = await execute<{ oid: number }>(`select 'vector'::regtype::oid::int as oid`);
  setVectorOid(orm.em, row!.oid);

  return {
    orm,
    engine: engine.name,
    execute,
    listen: (channel, onPayload, onListening = () => {}) => notifications.listen({ channel, onPayload, onListening }),
    bossDatabase: {
      executeSql: async (text, values) => ({ rows: await execute(text, values) }),
      async listen(channel, onPayload, onListening) {
        return { close: await notifications.listen({ channel, onPayload, onListening }) };
      },
    },
    async close() {
      await closeNotifications();
      await orm.close();
      await engine.close();
    },
  };
}

interface Engine {
  readonly name: Database['engine'];
  readonly pool: pg.PoolConfig & { database: string };
  notify(pool: pg.Pool, logger: Logger): Promise<{ notifications: Notifications; close: () => Promise<void> }>;
  close(): Promise<void>;
}

async function embeddedEngine({ dataDir }: DatabaseOptions): Promise<Engine> {
  const session = await openSession(`${dataDir}/database`);
  return {
    name: 'embedded',
    // One session: no second connection, and none that ends for being idle.
    pool: { database: 'postgres', user: 'postgres', stream: session.connect, max: 1, idleTimeoutMillis: 0 },
    async notify(pool) {
      const notifications = new Notifications((text) => pool.query(text));
      pool.on('connect', (client) => client.on('notification', (notification) => notifications.deliver(notification)));
      return { notifications, close: async () => {} };
    },
    close: session.close,
  };
}

function serverEngine(url: string, poolMax: number): Engine {
  const connection = { connectionString: url, database: new URL(url).pathname.slice(1) || 'postgres', options: '-c timezone=UTC' };
  return {
    name: 'server',
    pool: { ...connection, max: poolMax },
    notify: (_pool, logger) => connectNotifications(connection, logger),
    close: async () => {},
  };
}

/** A text of several statements, which only pg-boss sends, answers a result for each. */
const rowsOf = <Row>(result: pg.QueryResult | pg.QueryResult[]): Row[] => [result].flat().flatMap(({ rows }) => rows as Row[]);
