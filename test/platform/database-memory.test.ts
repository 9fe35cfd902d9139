import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '#platform/database/database.ts';
import { openTestDatabase } from './open-test-database.ts';

let database: Database;

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

/** 40,000 rows, 2.6 MB as text. A statement that fails would end what is tested: PGlite keeps answers only until the first error. */
const readMuch = async (times: number): Promise<void> => {
  for (let time = 0; time < times; time += 1) await database.execute(`select md5(n::text) || md5('' || n) as text from generate_series(1, 40000) as n`);
};

test('what was read is forgotten: memory does not grow with the answers', async () => {
  await readMuch(20);
  const before = process.memoryUsage.rss();
  await readMuch(80);
  // 80 answers take 210 MB, and several times that as the parsed messages that an older session kept.
  expect((process.memoryUsage.rss() - before) / 2 ** 20).toBeLessThan(150);
});
