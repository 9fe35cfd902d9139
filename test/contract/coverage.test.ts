import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repositoryRoot } from '../harness/server.ts';

const coverageFile = join(repositoryRoot, 'test/contract/coverage.md');
const literal = /\bclause\(\s*'([A-Z0-9-]+)',\s*'((?:[^'\\]|\\.)*)',/g;

interface Row {
  readonly id: string;
  readonly source: string;
  readonly title: string;
  readonly file: string;
}

async function readClauses(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const folder of ['test/contract', 'test/soak']) {
    const names = (await readdir(join(repositoryRoot, folder))).filter((name) => name.endsWith('.test.ts') && name !== 'coverage.test.ts');
    for (const name of names.sort()) {
      const text = await readFile(join(repositoryRoot, folder, name), 'utf8');
      const found = [...text.matchAll(literal)].map(([, id = '', promise = '']) => {
        const [source = '', ...title] = promise.replaceAll("\\'", "'").split(': ');
        return { id, source, title: title.join(': '), file: `${folder}/${name}` };
      });
      expect(found, `every clause of ${name} has a literal id and promise`).toHaveLength([...text.matchAll(/\bclause\(/g)].length);
      rows.push(...found);
    }
  }
  return rows;
}

const rendered = (rows: readonly Row[]): string =>
  [
    '# Clauses of the contract and their tests',
    '',
    'Generated from the tests (`UPDATE=1`); do not edit.',
    '',
    `${rows.length} clauses.`,
    '',
    '| id | source | promise | file |',
    '|---|---|---|---|',
    ...rows.map(({ id, source, title, file }) => `| ${id} | ${source} | ${title.replaceAll('|', '\\|')} | ${file} |`),
    '',
  ].join('\n');

test('clause ids are unique', async () => {
  const ids = (await readClauses()).map((row) => row.id);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});

test('coverage.md is fresh', async () => {
  const fresh = rendered(await readClauses());
  if (process.env['UPDATE'] === '1') await writeFile(coverageFile, fresh);
  expect(await readFile(coverageFile, 'utf8')).toBe(fresh);
});
