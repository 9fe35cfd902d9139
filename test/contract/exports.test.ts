import { gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { as } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually } from '../harness/eventually.ts';
import { store } from '../harness/memory.ts';
import type { Target } from '../harness/server.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { expectBody, expectError, ExportJob, ExportStatus } from '../harness/shapes.ts';
import { uniqueWord } from '../harness/words.ts';

const server = sharedServer();
const admin = as(server, 'admin');

async function finishedExport(): Promise<{ id: string; download_url: string; expires_at: string | null }> {
  const { id } = expectBody(await admin.post('/api/exports/full'), 201, ExportJob);
  const job = await eventually(async () => {
    const status = expectBody(await admin.get(`/api/exports/${id}`), 200, ExportStatus);
    expect(status.state).toBe('succeeded');
    return status;
  });
  return { id, download_url: job.download_url ?? expect.fail('no download_url'), expires_at: job.expires_at };
}

async function download(target: Target, url: string): Promise<Buffer> {
  const response = await fetch(new URL(url, target.baseUrl), { headers: { authorization: `Bearer ${target.credentials.api_keys.admin}` } });
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

/** Names and texts of the regular files of a tar archive. */
function filesOf(tar: Buffer): { name: string; text: string }[] {
  const files = [];
  for (let at = 0; at + 512 <= tar.length && tar[at] !== 0; ) {
    const field = (from: number, length: number) => tar.toString('utf8', at + from, at + from + length).split('\0')[0]!;
    const size = parseInt(field(124, 12), 8);
    if (['0', ''].includes(field(156, 1))) files.push({ name: field(0, 100), text: tar.toString('utf8', at + 512, at + 512 + size) });
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}

clause('EXPORT-001', 'decisions §8: POST /api/exports/full answers 201 {id, state}, GET shows the job until it has succeeded with an address', async () => {
  const started = Date.now();
  const { expires_at } = await finishedExport();
  const validForMs = new Date(expires_at ?? '').getTime() - started;
  expect(validForMs).toBeGreaterThan(50 * 60_000);
  expect(validForMs).toBeLessThan(62 * 60_000);
});

clause('EXPORT-002', 'decisions §8: the download is a .tar.gz of JSON Lines with every object of the organization and none of another', async () => {
  const [ours, research, theirs] = [uniqueWord(), uniqueWord(), uniqueWord()];
  const { id } = await store(admin, { content: `Exported\n"${ours}"`, metadata: { nested: { camelCase: [1] } } });
  await store(admin, { content: `Exported ${research}`, workspace_id: server.credentials.workspaces.research });
  await store(as(server, 'other_read_write'), { content: `Not exported ${theirs}` });
  const { download_url } = await finishedExport();
  const files = filesOf(gunzipSync(await download(server, download_url)));
  expect(files.length).toBeGreaterThan(0);
  const rows = files.flatMap(({ name, text }) => {
    expect(name).toMatch(/\.jsonl$/);
    return text.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as Record<string, unknown>);
  });
  expect(rows).toContainEqual(expect.objectContaining({ id, content: `Exported\n"${ours}"`, metadata: { nested: { camelCase: [1] } } }));
  const everything = JSON.stringify(rows);
  expect(everything).toContain(research);
  expect(everything).not.toContain(theirs);
  for (const key of Object.values(server.credentials.api_keys)) expect(everything).not.toContain(key);
});

clause('EXPORT-003', 'interface §7: an unknown job and another organization\'s job are 404 not_found', async () => {
  const { id } = expectBody(await admin.post('/api/exports/full'), 201, ExportJob);
  expectError(await admin.get('/api/exports/unknown'), 404, 'not_found');
  expectError(await as(server, 'other_admin').get(`/api/exports/${id}`), 404, 'not_found');
});

clause('EXPORT-004', 'decisions §8: only an Architect or an admin key may export or see the job', async () => {
  const { id } = expectBody(await admin.post('/api/exports/full'), 201, ExportJob);
  for (const actor of ['read_only', 'read_write'] as const) {
    expectError(await as(server, actor).post('/api/exports/full'), 403, 'permission_denied');
    expect([403, 404]).toContain((await as(server, actor).get(`/api/exports/${id}`)).status);
  }
  expectError(await as(server, 'nobody').get(`/api/exports/${id}`), 401, 'unauthenticated');
});
