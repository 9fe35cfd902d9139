import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { parseAst } from 'vitest/node';
import { repositoryRoot } from '../harness/server.ts';

/**
 * The TypeScript of the repository, parsed. dependency-cruiser, the usual tool, reads TypeScript through the compiler's old
 * API and so takes only versions before 7; this is the part of it that the house rules need.
 */
export interface SourceFile {
  /** From the repository's root: `platform/clock.ts`. */
  readonly path: string;
  readonly text: string;
  readonly nodes: readonly Node[];
  readonly imports: readonly Import[];
}

export interface Import {
  readonly specifier: string;
  /** The file of ours that it names, or null: a package, or something of Node's. */
  readonly target: string | null;
  readonly isTypeOnly: boolean;
  readonly start: number;
}

/** A node of the ESTree with TypeScript's additions; checks look at the few fields that they know. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly [field: string]: unknown;
}

export const roots = ['platform', 'gateway', 'subgraphs', 'schema', 'scripts', 'bench', 'test'] as const;

let tree: readonly SourceFile[] | undefined;

export const sourceTree = (): readonly SourceFile[] => (tree ??= roots.flatMap((root) => filesBelow(root)).map(read));

/** Everything that ships: without tests, benchmarks and what only builds. */
export const productTree = (): readonly SourceFile[] => sourceTree().filter(({ path }) => /^(platform|gateway|subgraphs|schema)\//.test(path));

/** `platform/clock.ts:6` */
export const at = ({ path, text }: SourceFile, { start }: Pick<Node, 'start'>): string => `${path}:${text.slice(0, start).split('\n').length}`;

function filesBelow(folder: string): string[] {
  if (!existsSync(join(repositoryRoot, folder))) return [];
  return readdirSync(join(repositoryRoot, folder), { withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() ? filesBelow(`${folder}/${entry.name}`) : /(?<!\.d)\.ts$/.test(entry.name) ? [`${folder}/${entry.name}`] : []))
    .sort();
}

function read(path: string): SourceFile {
  const text = readFileSync(join(repositoryRoot, path), 'utf8');
  const nodes = [...walk(parseAst(text, { lang: 'ts' }))];
  return { path, text, nodes, imports: nodes.flatMap((node) => importOf(node, path)) };
}

function* walk(value: unknown): Generator<Node> {
  if (Array.isArray(value)) for (const element of value) yield* walk(element);
  else if (value !== null && typeof value === 'object') {
    if ('type' in value && 'start' in value) yield value as Node;
    for (const [name, child] of Object.entries(value)) if (name !== 'parent') yield* walk(child);
  }
}

function importOf(node: Node, path: string): Import[] {
  if (!['ImportDeclaration', 'ExportNamedDeclaration', 'ExportAllDeclaration', 'ImportExpression', 'TSImportType'].includes(node.type)) return [];
  const { value: specifier } = (node['source'] ?? {}) as { value?: string };
  if (typeof specifier !== 'string') return [];
  const isTypeOnly = node.type === 'TSImportType' || node['importKind'] === 'type' || node['exportKind'] === 'type';
  return [{ specifier, target: targetOf(specifier, path), isTypeOnly, start: node.start }];
}

function targetOf(specifier: string, from: string): string | null {
  const target = specifier.startsWith('.') ? normalize(join(dirname(from), specifier)) : /^#(platform|schema)\//.test(specifier) ? specifier.slice(1) : null;
  if (target === null || target === 'package.json') return null;
  const file = join(repositoryRoot, target);
  if (!existsSync(file) || !statSync(file).isFile()) throw new Error(`${from}: '${specifier}' names no file. A folder cannot be imported, and an import ends in .ts.`);
  return target;
}
