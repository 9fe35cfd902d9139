import { expect, test } from 'vitest';
import { at, sourceTree } from './source-tree.ts';
import type { Import, SourceFile } from './source-tree.ts';

/**
 * One arrow. A slice is a folder of subgraphs/, and gateway/identity; its rooms may import what stands in their row, and
 * nothing else of ours but the platform. `own` is the slice's top level: rules and references that several rooms share.
 *
 * Where this differs from the first sketch:
 * - `queries` and `ports` know each other's types: a statement returns what a port takes, a port filters by what a query knows.
 * - `jobs` may run statements: nobody asks for a background task, so an operation would be an empty layer around it.
 * - Everybody who holds a context names the type of its ports (ports/ports.ts). The adapters themselves are opened by
 *   open-memory-ports.ts alone, which the door imports.
 */
const rooms: Readonly<Record<string, readonly string[]>> = {
  entities: ['entities'],
  queries: ['queries', 'entities', 'own', 'ports as types'],
  ports: ['ports', 'entities', 'queries'],
  operations: ['operations', 'entities', 'queries', 'own', 'ports as types', 'ports/keyword', 'jobs'],
  resolvers: ['resolvers', 'operations', 'entities', 'own', 'ports as types', 'queries as types'],
  jobs: ['jobs', 'operations', 'entities', 'queries', 'own', 'ports as types'],
  migrations: [],
  credentials: ['credentials', 'own'],
  own: ['own', 'entities', 'queries', 'credentials'],
  index: ['entities', 'resolvers', 'operations', 'jobs', 'migrations', 'ports', 'own'],
};

interface Place {
  readonly slice: string;
  readonly room: string;
}

/** `subgraphs/memory/queries/filter.ts` → { slice: 'subgraphs/memory', room: 'queries' } */
function placeOf(path: string): Place | null {
  const [, slice, rest] = /^(subgraphs\/[\w-]+|gateway\/identity)\/(.+)$/.exec(path) ?? [];
  if (slice === undefined || rest === undefined) return null;
  const [room, ...deeper] = rest.split('/');
  return { slice, room: deeper.length > 0 ? room! : room === 'index.ts' ? 'index' : 'own' };
}

/** Why this import may not be, or null. */
function refusalOf(from: SourceFile, { target, specifier, isTypeOnly }: Import): string | null {
  if (target === null) return specifier.startsWith('#') && specifier !== '#package' && specifier !== '#supergraph' ? 'is no import that package.json knows' : null;
  const [here, there] = [placeOf(from.path), placeOf(target)];
  const [area, otherArea] = [areaOf(from.path), areaOf(target)];
  if (area === otherArea && specifier.startsWith('#')) return 'is a neighbor: name it relatively';
  if (/^test\/(contract|soak)\//.test(from.path) && !/^test\/(contract|harness)\//.test(target)) return 'looks behind the network: the contract is audited from outside';
  if (area !== 'test' && area !== otherArea && ['platform', 'schema'].includes(otherArea) && !specifier.startsWith('#')) return `is named as #${otherArea}/…`;

  if (here !== null) {
    if (otherArea === 'platform') return null;
    if (there === null) return 'leaves the slice';
    if (there.slice !== here.slice) return 'is another slice: they meet in references and events only';
    const row = rooms[here.room];
    if (row === undefined) return `stands in a room without a row in this table: ${here.room}`;
    if (row.some((room) => room === there.room || (room === `${there.room} as types` && isTypeOnly) || target.startsWith(`${there.slice}/${room}/`))) return null;
    return `${here.room} may not import ${there.room}`;
  }
  if (['scripts', 'bench', 'test'].includes(area)) return null;
  if (otherArea === 'platform') return null;
  switch (area) {
    case 'platform':
      return 'platform imports nothing of ours';
    case 'schema':
      return 'generated documents import nothing of ours';
    case 'subgraphs':
      // main.ts and register.ts, which stand beside the slices.
      return there?.room === 'index' || target === 'subgraphs/register.ts' ? null : 'is behind a door';
    default:
      if (otherArea === 'schema' || (otherArea === 'gateway' && there === null)) return null;
      if (there?.slice === 'gateway/identity') return identityPieces.includes(target) || there.room === 'index' ? null : 'is behind the door of identity';
      return from.path === 'gateway/main.ts' && target === 'subgraphs/register.ts' ? null : 'is behind a door';
  }
}

/** The gateway authenticates with identity (docs/decisions/0003-identity-in-the-gateway.md), and its first start makes keys. */
const identityPieces = [
  'gateway/identity/authenticate.ts',
  'gateway/identity/identity-changed.ts',
  'gateway/identity/tokens.ts',
  'gateway/identity/check-code.ts',
  'gateway/identity/check-password.ts',
  'gateway/identity/credentials/access-token.ts',
  'gateway/identity/password.ts',
  'gateway/identity/totp.ts',
  // Their insert statements, for the seed.
  'gateway/identity/operations/create-api-key.ts',
  'gateway/identity/operations/create-publisher.ts',
  'gateway/identity/operations/create-user.ts',
  'gateway/identity/operations/sign-in.ts',
];

const areaOf = (path: string): string => path.slice(0, path.indexOf('/'));

test('every import follows the arrow', () => {
  const refusals = sourceTree().flatMap((file) =>
    file.imports.flatMap((one) => {
      const refusal = refusalOf(file, one);
      return refusal === null ? [] : [`${at(file, one)} imports ${one.specifier}: ${refusal}`];
    }),
  );
  expect(refusals).toEqual([]);
});

test('no cycle, not even of types', () => {
  const targets = new Map(sourceTree().map(({ path, imports }) => [path, imports.flatMap(({ target }) => target ?? [])]));
  const finished = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) cycles.push([...trail.slice(trail.indexOf(path)), path].join(' → '));
    if (finished.has(path) || trail.includes(path)) return;
    for (const target of targets.get(path) ?? []) visit(target, [...trail, path]);
    finished.add(path);
  };
  for (const path of targets.keys()) visit(path, []);
  expect(cycles).toEqual([]);
});

test('index.ts is a door and nothing else: of a slice, with one export', () => {
  const indexes = sourceTree().filter(({ path }) => path.endsWith('/index.ts'));
  expect(indexes.filter(({ path }) => placeOf(path)?.room !== 'index').map(({ path }) => path)).toEqual([]);
  for (const { path, nodes } of indexes) {
    expect(nodes.filter(({ type }) => type.startsWith('Export')).length, `exports of ${path}`).toBe(1);
  }
});

test('nothing is exported again from elsewhere', () => {
  const barrels = sourceTree().flatMap((file) => file.nodes.filter((node) => node.type.startsWith('Export') && node['source'] != null).map((node) => at(file, node)));
  expect(barrels).toEqual([]);
});
