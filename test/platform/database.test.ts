import { EventEmitter, once } from 'node:events';
import { BigIntType } from '@mikro-orm/core';
import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { Database } from '#platform/database/database.ts';
import { migrate } from '#platform/database/migrator.ts';
import { query } from '#platform/database/query.ts';
import { transaction } from '#platform/database/transaction.ts';
import { vectorArrayParameter, vectorParameter } from '#platform/database/vector.ts';
import { openTestDatabase } from './open-test-database.ts';

@Entity({ tableName: 'note' })
class Note {
  @PrimaryKey({ type: 'text' }) id!: string;
  @Property({ type: 'text' }) body!: string;
  @Property({ type: 'datetime', columnType: 'timestamptz' }) at!: Date;
  @Property({ type: 'json', columnType: 'jsonb' }) data!: unknown;
  @Property({ type: 'array', columnType: 'text[]' }) tags!: string[];
  @Property({ type: new BigIntType('number') }) size!: number;
}

const AT = new Date('2026-03-04T05:06:07.890Z');
let database: Database;

beforeAll(async () => {
  database = await openTestDatabase([Note]);
  await database.execute(`create table note (id text primary key, body text not null, at timestamptz not null, data jsonb not null, tags text[] not null, size int8 not null)`);
  await database.execute(`create table item (id int primary key, parent int references item)`);
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.execute(`truncate note, item`);
});

const em = () => database.orm.em.fork();

test('a value comes back as the same type from either engine', async () => {
  const text = `select $1::timestamptz as at, $2::int8 as size, count(*) as count, $3::text[] as tags, $4::jsonb as data, $5::bytea as bytes,
                  12.50::numeric as price, null::text as nothing, array[1, null]::int8[] as sizes, true as flag, 0.5::float8 as ratio, current_setting('timezone') as zone`;
  const params = [AT, 2 ** 52, ['a', 'b,"c"'], { deep: [1, { x: null }] }, Buffer.from([0, 255, 92])];
  const expected = [
    {
      at: AT, size: 2 ** 52, count: 1, tags: ['a', 'b,"c"'], data: { deep: [1, { x: null }] }, bytes: Buffer.from([0, 255, 92]),
      price: '12.50', nothing: null, sizes: [1, null], flag: true, ratio: 0.5, zone: 'UTC',
    },
  ];
  expect(await query(em(), text, params)).toEqual(expected);
  expect(await query(em(), text, params), 'the second time it is a prepared statement').toEqual(expected);
  expect(await database.execute(text, params)).toEqual(expected);
});

test('an entity goes through the ORM and comes back unchanged and clean', async () => {
  const values = { id: 'n1', body: 'first', at: AT, data: { a: [1] }, tags: ['x', 'y'], size: 2 ** 40 };
  await transaction(em(), async (tx) => void tx.create(Note, values));
  const reader = em();
  const note = await reader.findOneOrFail(Note, 'n1');
  expect({ ...note }).toEqual(values);
  expect(note.at).toBeInstanceOf(Date);
  reader.getUnitOfWork().computeChangeSets();
  expect(reader.getUnitOfWork().getChangeSets()).toEqual([]);
  note.at = new Date(AT.getTime() + 1000);
  await reader.flush();
  expect(await query(em(), `select at, data from note`)).toEqual([{ at: new Date(AT.getTime() + 1000), data: { a: [1] } }]);
});

test('bytes and vectors travel whole', async () => {
  const bytes = Buffer.alloc(8 << 20, 'quadrivium');
  const [row] = await query<{ bytes: Buffer; part: Buffer }>(em(), `select $1::bytea as bytes, substring($1::bytea from 10 for 4) as part`, [bytes]);
  expect(row!.bytes.equals(bytes)).toBe(true);
  expect(row!.part.toString()).toBe('mqua');
  const a = new Float32Array([1, -2.5, 3]);
  expect(await query(em(), `select $1::vector <=> $1::vector as distance, $1::vector::text as text`, [vectorParameter(a)])).toEqual([{ distance: 0, text: '[1,-2.5,3]' }]);
  const several = vectorArrayParameter([a, new Float32Array([0, 0, 9])]);
  expect(await query(em(), `select v::text as text from unnest($1::vector[]) as v`, [several])).toEqual([{ text: '[1,-2.5,3]' }, { text: '[0,0,9]' }]);
});

test('an error keeps code, constraint and detail, and the connection goes on', async () => {
  await query(em(), `insert into item values (1)`);
  const failures = { code: '23505', constraint: 'item_pkey', detail: 'Key (id)=(1) already exists.' };
  for (let time = 0; time < 3; time += 1) await expect(query(em(), `insert into item values ($1)`, [1])).rejects.toMatchObject(failures);
  await expect(database.execute(`insert into item values (2); insert into item values (1)`)).rejects.toMatchObject(failures);
  await expect(query(em(), `select nothing_like_this`)).rejects.toMatchObject({ code: '42703' });
  expect(await query(em(), `select id from item`)).toEqual([{ id: 1 }]);
});

test('a script that fails inside its own transaction leaves nothing open', async () => {
  await expect(database.execute(`begin; insert into item values (1); select 1/0; commit`)).rejects.toMatchObject({ code: '22012' });
  await query(em(), `insert into item values (2)`);
  expect(await database.execute(`select id from item`)).toEqual([{ id: 2 }]);
});

test('a transaction commits as a whole or not at all', async () => {
  await transaction(em(), async (tx) => {
    await query(tx, `insert into item values (1)`);
    await transaction(tx, (inner) => query(inner, `insert into item values (2, 1)`));
  });
  const refused = new Error('refused');
  await expect(
    transaction(em(), async (tx) => {
      await query(tx, `insert into item values (3)`);
      tx.create(Note, { id: 'n', body: '', at: AT, data: null, tags: [], size: 1 });
      throw refused;
    }),
  ).rejects.toBe(refused);
  await expect(transaction(em(), (tx) => query(tx, `insert into item values (4, 99)`))).rejects.toMatchObject({ code: '23503' });
  expect(await query(em(), `select id from item order by id`)).toEqual([{ id: 1 }, { id: 2 }]);
  expect(await query(em(), `select count(*) from note`)).toEqual([{ count: 0 }]);
});

test('what is asked while a transaction is open sees nothing of it before the commit', async () => {
  const opened = new EventEmitter();
  const wait = once(opened, 'inserted');
  const writing = transaction(em(), async (tx) => {
    await query(tx, `insert into item values (1)`);
    opened.emit('inserted');
    for (let n = 2; n <= 20; n += 1) await query(tx, `insert into item values ($1)`, [n]);
  });
  await wait;
  const counts = await Promise.all(Array.from({ length: 20 }, () => query<{ count: number }>(em(), `select count(*) from item`)));
  await writing;
  for (const [row] of counts) expect([0, 20]).toContain(row!.count);
  expect(await query(em(), `select count(*) from item`)).toEqual([{ count: 20 }]);
});

test('a notification arrives after the commit, and none after a rollback or the end of listening', async () => {
  const heard: string[] = [];
  const arrived = new EventEmitter();
  const stop = await database.listen('Orders', (payload) => {
    heard.push(payload);
    arrived.emit(payload);
  });
  const last = once(arrived, 'last');
  await transaction(em(), (tx) => query(tx, `select pg_notify('Orders', $1)`, ['first']));
  await transaction(em(), async (tx) => {
    await query(tx, `select pg_notify('Orders', $1)`, ['undone']);
    throw new Error('refused');
  }).catch(() => {});
  await expect(database.execute(`begin; select 1/0`), 'a failure must not end the listening').rejects.toThrow();
  await database.execute(`select pg_notify('Orders', 'last')`);
  await last;
  await stop();
  await database.execute(`select pg_notify('Orders', 'late')`);
  expect(heard).toEqual(['first', 'last']);
});

test.runIf(process.env['DATABASE_URL'] !== undefined)('listening goes on after the server dropped the connection', async () => {
  const heard: string[] = [];
  const stop = await database.listen('Drops', (payload) => heard.push(payload));
  await database.execute(`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'listen%'`);
  await vi.waitFor(async () => {
    await database.execute(`select pg_notify('Drops', 'again')`);
    expect(heard).toContain('again');
  }, { timeout: 60_000, interval: 100 });
  await stop();
});

test('migrations are applied once each, in order, also when several processes start at once', async () => {
  const migrations = [
    { name: 'demo/0001-initial', sql: `create schema demo; create table demo.a (n int); insert into demo.a values (1)` },
    { name: 'demo/0002-more', sql: `insert into demo.a select n + 1 from demo.a` },
  ];
  await Promise.all([migrate(database, migrations), migrate(database, migrations), migrate(database, migrations.slice(0, 1))]);
  expect(await query(em(), `select n from demo.a order by n`)).toEqual([{ n: 1 }, { n: 2 }]);
  const broken = { name: 'demo/0003-broken', sql: `insert into demo.a values (7); select 1/0` };
  await expect(migrate(database, [...migrations, broken])).rejects.toMatchObject({ code: '22012' });
  expect(await query(em(), `select n from demo.a order by n`)).toEqual([{ n: 1 }, { n: 2 }]);
  expect(await query(em(), `select name from platform.migration order by name`)).toEqual(migrations.map(({ name }) => ({ name })));
});
