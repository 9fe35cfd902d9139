import { expect, test } from 'vitest';
import { at, productTree, sourceTree } from './source-tree.ts';
import type { Node, SourceFile } from './source-tree.ts';

const mains = ['gateway/main.ts', 'subgraphs/main.ts'];

const named = (node: unknown, name: string): boolean => (node as Node | undefined)?.['name'] === name;

/** Where in these files such a node stands. */
const places = (files: readonly SourceFile[], matches: (node: Node) => boolean): string[] => files.flatMap((file) => file.nodes.filter(matches).map((node) => at(file, node)));

test('only platform/clock.ts asks the machine for the time', () => {
  const asks = ({ type, callee, arguments: given, object, property }: Node): boolean =>
    (type === 'NewExpression' && named(callee, 'Date') && (given as unknown[]).length === 0) ||
    (type === 'CallExpression' && named(callee, 'Date')) ||
    (type === 'MemberExpression' && named(object, 'Date') && named(property, 'now'));
  expect(places(productTree().filter(({ path }) => path !== 'platform/clock.ts'), asks)).toEqual([]);
});

test('only a main reads the environment, and hands it to platform/config.ts', () => {
  const reads = ({ type, object, property }: Node): boolean => type === 'MemberExpression' && named(object, 'process') && named(property, 'env');
  expect(places(productTree().filter(({ path }) => !mains.includes(path)), reads)).toEqual([]);
});

test('no default exports', () => {
  // Vitest's global setup is a named export too; only the configuration of a tool may need one, and none stands here.
  expect(places(sourceTree(), ({ type }) => type === 'ExportDefaultDeclaration')).toEqual([]);
});

test('no `any`', () => {
  expect(places(sourceTree(), ({ type }) => type === 'TSAnyKeyword')).toEqual([]);
});

test('the compiler is never told to look away', () => {
  const silenced = sourceTree().flatMap((file) => [...file.text.matchAll(/@ts-(ignore|nocheck|expect-error)/g)].map(({ index }) => at(file, { start: index })));
  expect(silenced).toEqual([]);
});

test('decorators declare, in entities and resolvers only', () => {
  const elsewhere = productTree().filter(({ path }) => !/\/(entities|resolvers)\//.test(path) && !path.startsWith('platform/subgraph/'));
  expect(places(elsewhere, ({ type }) => type === 'Decorator')).toEqual([]);
});

test('files are named in kebab-case, by a noun or a verb of their own', () => {
  const names = sourceTree().map(({ path }) => path);
  expect(names.filter((path) => !/^([a-z0-9-]+\/)+[a-z0-9-]+(\.test)?\.ts$/.test(path))).toEqual([]);
  expect(names.filter((path) => /(service|manager|helper|util)/i.test(path))).toEqual([]);
});
