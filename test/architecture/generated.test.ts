import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { repositoryRoot } from '../harness/server.ts';

/** The built scripts compare what they would write with what is committed, and fail on any difference. */
const check = (script: string) =>
  promisify(execFile)(join(repositoryRoot, 'node_modules/.bin/node'), [`dist/scripts/${script}.js`, '--check'], { cwd: repositoryRoot, env: { ...process.env, NODE_ENV: 'production' } });

test('SDL, supergraph and typed documents are what the code says', async () => {
  await expect(check('schema')).resolves.toBeTruthy();
});

test('settings in README.md and .env.example, and the permissions in docs/operations.md, are what the code says', async () => {
  await expect(check('docs')).resolves.toBeTruthy();
});
