import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { repositoryRoot } from '../harness/server.ts';

/** Runs a bench as its command does; `--assert` makes a missed target an exit code. */
async function bench(name: string, ...args: string[]): Promise<string> {
  const node = join(repositoryRoot, 'node_modules/.bin/node');
  const { stdout } = await promisify(execFile)(node, [join(repositoryRoot, 'dist/bench', `${name}.js`), ...args, '--assert'], { cwd: repositoryRoot, maxBuffer: 1 << 26 });
  console.log(stdout);
  return stdout;
}

// A collection in BEIR's layout is not part of the repository: BEIR_FOLDER names one.
test.runIf(process.env['BEIR_FOLDER'] !== undefined)('ranks a BEIR collection as well as promised', async () => {
  expect(await bench('quality', process.env['BEIR_FOLDER']!)).toContain('PASS');
});

test('finds 100,000 objects in one workspace within the promised time, and as an exact scan would', async () => {
  expect(await bench('retrieve', '--objects', '100000')).toContain('PASS');
});
