import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { repositoryRoot } from '../harness/server.ts';
import { productTree } from './source-tree.ts';

/** What is started, not imported: the mains and the bodies of worker threads. */
const starts = /\/main\.js$|worker\.js$/;
const notWorkers = ['platform/jobs/worker.js'];

test('importing every file opens nothing: the process ends by itself', async () => {
  const dist = join(repositoryRoot, 'dist');
  const files = productTree()
    .map(({ path }) => path.replace(/ts$/, 'js'))
    .filter((path) => !starts.test(path) || notWorkers.includes(path));
  expect(files.length).toBeGreaterThan(100);
  const script = `
    import 'reflect-metadata';
    const before = Object.keys(process.env).length;
    for (const file of ${JSON.stringify(files)}) await import(${JSON.stringify(`${dist}/`)} + file);
    console.log(JSON.stringify({ handles: process.getActiveResourcesInfo().filter((name) => !/^(TTY|Pipe)Wrap$/.test(name)), variables: Object.keys(process.env).length - before }));
  `;
  // Whatever is open keeps the process until it is killed, which is an error.
  const { stdout } = await promisify(execFile)(join(repositoryRoot, 'node_modules/.bin/node'), ['--input-type=module', '--eval', script], { cwd: repositoryRoot, timeout: 120_000 });
  expect(JSON.parse(stdout)).toEqual({ handles: [], variables: 0 });
});
