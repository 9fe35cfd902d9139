import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { as } from '../harness/actors.ts';
import { eventually } from '../harness/eventually.ts';
import { store } from '../harness/memory.ts';
import { signIn } from '../harness/oauth.ts';
import { arrival, PlainBrowser, screen } from '../harness/plain-browser.ts';
import { freePort, repositoryRoot, startServer } from '../harness/server.ts';

const Found = z.object({ results: z.array(z.looseObject({ id: z.string(), highlights: z.array(z.string()) })).min(1) });

/** The blocks of one section in a language, as printed. */
async function blocksOf(heading: string, language = 'sh'): Promise<string[]> {
  const text = await readFile(join(repositoryRoot, 'README.md'), 'utf8');
  const section = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? expect.fail(`README.md has no section '${heading}'`);
  return [...section.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].filter(([, name]) => name === language).map(([, , block = '']) => block);
}

/** One terminal: what a block assigns, the later ones know. */
function terminalIn(folder: string): (block: string) => Promise<string> {
  let assigned = '';
  return async (block) => {
    const names = [...block.matchAll(/^([A-Z]+)=/gm)].map(([, name]) => name);
    const script = `set -euo pipefail\n${assigned}\n${block}\n${names.length > 0 ? `declare -p ${names.join(' ')} >&2` : ''}`;
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script], { cwd: folder });
    assigned += stderr;
    return stdout;
  };
}

test('the five minutes of the README work as printed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quadrivium-readme-'));
  try {
    await using server = await startServer({ dataDir: join(folder, '.data') });
    const blocks = (await blocksOf('Five minutes')).map((block) => block.replaceAll('http://127.0.0.1:4000', server.baseUrl));
    expect(blocks.length).toBeGreaterThan(8);

    const type = terminalIn(folder);
    const run = async (block: string): Promise<unknown> => {
      const printed = await type(block);
      return printed === '' ? null : JSON.parse(printed);
    };
    for (const block of blocks) {
      // What was stored is found as soon as the work behind it is done.
      const answer = block.includes('/retrieve') ? await eventually(async () => found(await run(block), block)) : await run(block);
      if (answer !== null) expect(answer, block).not.toHaveProperty(['error']);
      if (answer !== null) expect(answer, block).not.toHaveProperty(['errors']);
      if (block.includes('/graphql')) expect(answer).toMatchObject({ data: { organization: { name: 'Demo Organization' } } });
    }

    const nobody = as(server, 'nobody');
    expect((await nobody.get('/docs')).status).toBe(200);
    expect((await nobody.get('/openapi.json')).status).toBe(200);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('signing in works as the README prints it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quadrivium-readme-'));
  try {
    await using server = await startServer({ dataDir: join(folder, '.data') });
    await symlink(join(repositoryRoot, 'node_modules'), join(folder, 'node_modules'));
    const type = terminalIn(folder);
    const printed: string[] = [];
    for (const block of await blocksOf('Sign in')) printed.push(await type(block.replaceAll('http://127.0.0.1:4000', server.baseUrl)));
    const [, steppedUp, session, member, audit] = printed;
    expect(JSON.parse(steppedUp!)).toHaveProperty('stepped_up_until');
    expect(JSON.parse(session!)).toMatchObject({ user: { organization_role: 'architect' }, stepped_up_until: expect.any(String) });
    expect(JSON.parse(member!)).toMatchObject({ role: 'editor' });
    expect(audit).toMatch(/"operation":"setMember".*"valid":true/s);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('live state works as the README prints it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quadrivium-readme-'));
  try {
    await using server = await startServer({ dataDir: join(folder, '.data') });
    await symlink(join(repositoryRoot, 'node_modules'), join(folder, 'node_modules'));
    const here = (block: string): string => block.replaceAll('127.0.0.1:4000', new URL(server.baseUrl).host);
    await writeFile(join(folder, 'live.mjs'), here((await blocksOf('Live state', 'js'))[0]!));
    const printed = await terminalIn(folder)(here((await blocksOf('Live state'))[0]!));
    expect(JSON.parse(printed)).toMatchObject({ memoryProcessed: { processing: { embeddingStatus: 'COMPLETED' }, workspace: { name: 'default' } } });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('signing in with OAuth works as the README prints it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quadrivium-readme-'));
  try {
    await using server = await startServer({ dataDir: join(folder, '.data') });
    const [ask, trade, revoke] = (await blocksOf('Sign in with OAuth')).map((block) => block.replaceAll('http://127.0.0.1:4000', server.baseUrl));
    const type = terminalIn(folder);
    const consent = screen(await signIn(new PlainBrowser(server.baseUrl), new URL((await type(ask!)).trim()), server.credentials.users.editor));
    const code = arrival(await consent.press('Allow')).searchParams.get('code')!;
    expect(JSON.parse(await type(trade!.replace('paste-it-here', code)))).toHaveProperty('results');
    await type(revoke!);
    expect(JSON.parse(await type(trade!.split('\n').at(-2)!))).toMatchObject({ error: { code: 'unauthenticated' } });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('a receiver of webhooks works as the README prints it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quadrivium-readme-'));
  try {
    await using server = await startServer({ dataDir: join(folder, '.data') });
    const port = await freePort();
    const here = (block: string): string => block.replaceAll('http://127.0.0.1:4000', server.baseUrl).replaceAll('4040', String(port));
    const [create, receive] = await blocksOf('Webhooks');
    const type = terminalIn(folder);
    await type(here(create!));
    const secret = (await type('echo $SECRET')).trim();
    expect(receive).toContain('node receiver.mjs');
    // It stands in the repository's folder, where its library is.
    await symlink(join(repositoryRoot, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'receiver.mjs'), here((await blocksOf('Webhooks', 'js'))[0]!));
    const receiver = spawn(process.execPath, ['receiver.mjs'], { cwd: folder, env: { SECRET: secret }, stdio: ['ignore', 'pipe', 'inherit'] });
    let printed = '';
    receiver.stdout.setEncoding('utf8').on('data', (chunk: string) => (printed += chunk));
    const { id } = await store(as(server, 'read_write'), { content: 'Told of as the README says.' });
    await eventually(async () => expect(printed).toBe(`memory.stored ${id}\nmemory.processed ${id}\n`)).finally(() => receiver.kill());
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

/** A search must find; the block that looks an object up by its id answers the object itself. */
function found(answer: unknown, block: string): unknown {
  if (/^ID=/m.test(block)) return answer;
  const { results } = Found.parse(answer);
  if (!block.includes('mode=hybrid')) expect(results[0], block).toMatchObject({ content: expect.stringContaining('Invoices above 5,000 euros') });
  return answer;
}
