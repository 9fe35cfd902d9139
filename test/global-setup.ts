import type { TestProject } from 'vitest/node';
import { startServer } from './harness/server.ts';
import './harness/shared-server.ts';

/** One server on demo data for every clause that needs none of its own. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startServer({ env: { MEMORY_SWEEP_SECONDS: '1' } });
  project.provide('sharedServer', { baseUrl: server.baseUrl, credentials: server.credentials });
  return () => server.stop();
}
