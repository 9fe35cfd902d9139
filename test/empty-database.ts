import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { TestProject } from 'vitest/node';
import { openDatabase } from '#platform/database/database.ts';
import './platform/open-test-database.ts';

/** The embedded database as it is when it was opened once: to make one takes five times as long as to open its copy. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'quadrivium-'));
  if (process.env['DATABASE_URL'] === undefined) {
    const database = await openDatabase({ url: null, dataDir, entities: [], poolMax: 1, logger: pino({ level: 'warn' }) });
    await database.close();
  }
  project.provide('emptyDatabase', dataDir);
  return () => rm(dataDir, { recursive: true });
}
