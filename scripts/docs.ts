// Prints what documents repeat of the code: the settings into README.md and .env.example, the operations into
// docs/operations.md and docs/access-matrix.md. --check compares with what is committed.
import { readFileSync, writeFileSync } from 'node:fs';
import { settingRows } from '#platform/config.ts';
import { identity } from '../gateway/identity/index.ts';
import { subgraphs } from '../subgraphs/register.ts';
import { accessMatrix } from './access-matrix.ts';

const root = new URL(import.meta.url.includes('/dist/') ? '../../' : '../', import.meta.url);

const cell = (text: string): string => text.replaceAll('|', '\\|');

/** A value as code, words as words. */
const shown = (byDefault: string): string => (byDefault === '' || byDefault.includes(' ') ? byDefault : `\`${byDefault}\``);

function readme(): string {
  const rows = settingRows().map(({ name, byDefault, meaning }) => `| \`${name}\` | ${shown(byDefault)} | ${cell(meaning)} |`);
  const table = ['| variable | default | meaning |', '|---|---|---|', ...rows].join('\n');
  const [begin, end] = ['<!-- settings: printed by npm run docs -->', '<!-- end of settings -->'];
  const text = readFileSync(new URL('README.md', root), 'utf8');
  const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)];
  if (from < begin.length || to < from) throw new Error(`README.md has lost its marks: ${begin} … ${end}`);
  return `${text.slice(0, from)}\n${table}\n${text.slice(to)}`;
}

function envExample(): string {
  const lines = settingRows().flatMap(({ name, byDefault, meaning }) => ['', `# ${meaning}`, `#${name}=${/\s/.test(byDefault) ? '' : byDefault}`]);
  return [
    '# Every setting of the product, with its default. Printed by `npm run docs` from platform/config.ts; do not edit.',
    '# Copy it to .env, remove the # where you want something else, then:  set -a; . ./.env; set +a; npm start',
    ...lines,
    '',
  ].join('\n');
}

function operations(): string {
  const sections = [identity, ...subgraphs].flatMap((subgraph) => [
    `## ${subgraph.name}`,
    '',
    '| operation | kind | requires |',
    '|---|---|---|',
    ...subgraph.operations.map(({ facts }) => `| ${facts.name} | ${facts.kind} | ${facts.requires} |`),
    '',
  ]);
  return [
    '# Operations and what they require',
    '',
    'Printed by `npm run docs` from the doors of the subgraphs; do not edit. The words are those of `platform/requirements.ts`.',
    'A changed line is a changed permission: read it twice.',
    '',
    ...sections,
  ].join('\n');
}

const stale: string[] = [];
for (const [path, content] of Object.entries({ 'README.md': readme(), '.env.example': envExample(), 'docs/operations.md': operations(), 'docs/access-matrix.md': accessMatrix([identity, ...subgraphs]) })) {
  const file = new URL(path, root);
  if (!process.argv.includes('--check')) writeFileSync(file, content);
  else if (readFileSync(file, 'utf8') !== content) stale.push(path);
}
if (stale.length > 0) {
  console.error(`Stale, run npm run docs: ${stale.join(', ')}`);
  process.exitCode = 1;
}
