import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { settingRows } from '#platform/config.ts';
import { repositoryRoot } from '../harness/server.ts';
import { at, productTree, sourceTree } from './source-tree.ts';

const read = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8');
const pages = ['README.md', 'CHANGELOG.md', ...readdirSync(join(repositoryRoot, 'docs'), { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.md')).map((path) => `docs/${path}`)];
const exists = (path: string): boolean => existsSync(join(repositoryRoot, path));

test('every page that the code names exists', () => {
  const missing = sourceTree().flatMap((file) =>
    [...file.text.matchAll(/docs\/[a-z]+\/[\w-]+\.md/g)].filter(([path]) => !exists(path)).map(({ 0: path, index }) => `${at(file, { start: index })} names ${path}`),
  );
  expect(missing).toEqual([]);
});

test('every path that a page names exists', () => {
  const paths = /`((?:platform|gateway|subgraphs|schema|scripts|test|bench|docker|docs|\.ci)\/[\w./-]*)`/g;
  expect(pages.flatMap((page) => [...read(page).matchAll(paths)].filter(([, path]) => !exists(path!)).map(([, path]) => `${page} names ${path}`))).toEqual([]);
});

test('every npm script that a page names exists', () => {
  const { scripts } = z.looseObject({ scripts: z.record(z.string(), z.string()) }).parse(JSON.parse(read('package.json')));
  expect(pages.flatMap((page) => [...read(page).matchAll(/npm run ([\w:-]+)/g)].filter(([, name]) => !(name! in scripts)).map(([, name]) => `${page} names ${name}`))).toEqual([]);
});

test('every setting is read by somebody', () => {
  const text = productTree().filter(({ path }) => path !== 'platform/config.ts').map((file) => file.text).join('\n');
  const camelCase = (name: string): string => name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  expect(settingRows().map(({ name }) => name).filter((name) => !new RegExp(`\\b${camelCase(name)}\\b`).test(text))).toEqual([]);
});
