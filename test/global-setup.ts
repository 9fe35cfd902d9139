import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { adminDatabaseUrl, startServer } from './harness/server.ts';
import './harness/shared-server.ts';

/**
 * One server on demo data for every clause that needs none of its own; and for those that do, what a first start leaves in
 * its folder, because it takes twice as long as any later one.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'quadrivium-'));
  const startedDataDir = join(folder, 'started');
  if (adminDatabaseUrl === undefined) await (await startServer({ dataDir: startedDataDir })).stop();
  project.provide('startedDataDir', startedDataDir);

  const dataDir = join(folder, 'shared');
  if (adminDatabaseUrl === undefined) await cp(startedDataDir, dataDir, { recursive: true });
  const server = await startServer({ dataDir, env: { MEMORY_SWEEP_SECONDS: '1' } });
  project.provide('sharedServer', { baseUrl: server.baseUrl, credentials: server.credentials });
  return async () => {
    await server.stop();
    await rm(folder, { recursive: true });
  };
}
