import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { query } from '#platform/database/query.ts';
import type { Database } from '#platform/database/database.ts';
import { GroupCommit } from '#platform/group-commit.ts';
import type { GroupRun } from '#platform/group-commit.ts';
import { openTestDatabase } from './open-test-database.ts';

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
  await database.execute('create table kept (value int check (value <> 13))');
});
afterAll(() => database.close());

const groupCommit = () => new GroupCommit({ fork: () => database.orm.em.fork(), logger: pino({ level: 'silent' }), parallel: 1, groupMax: 50 });

it('runs calls that come together in few transactions', async () => {
  const groups: number[] = [];
  const run: GroupRun<number> = async (em, calls) => {
    groups.push(calls.length);
    await query(em, 'insert into kept select unnest($1::int[])', [calls]);
    return calls.map((value) => value * 2);
  };
  const group = groupCommit();
  const values = Array.from({ length: 120 }, (_, index) => index + 100);
  expect(await Promise.all(values.map((value) => group.run(run, value)))).toEqual(values.map((value) => value * 2));
  expect(groups).toEqual([50, 50, 20]);
});

it('lets nobody pay for a neighbor whose row the database refuses', async () => {
  const run: GroupRun<number> = async (em, calls) => {
    await query(em, 'insert into kept select unnest($1::int[])', [calls]);
    return calls.map(() => 'kept');
  };
  const group = groupCommit();
  const outcomes = await Promise.allSettled([11, 12, 13, 14].map((value) => group.run(run, value)));
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  expect(await database.execute('select value from kept where value < 20 order by value')).toEqual([{ value: 11 }, { value: 12 }, { value: 14 }]);
});

it('answers an error that a call returns to that call alone, and commits the others', async () => {
  const run: GroupRun<number> = async (em, calls) => {
    await query(em, 'insert into kept select unnest($1::int[])', [calls.filter((value) => value !== 22)]);
    return calls.map((value) => (value === 22 ? new Error('refused') : value));
  };
  const group = groupCommit();
  const outcomes = await Promise.allSettled([21, 22, 23].map((value) => group.run(run, value)));
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await database.execute('select value from kept where value between 21 and 23 order by value')).toEqual([{ value: 21 }, { value: 23 }]);
});
