import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DocumentNode } from 'graphql';
import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { errorStatus } from '#platform/errors.ts';
import { eventNames } from '#platform/webhooks/event-names.ts';
import { identity } from '../../gateway/identity/index.ts';
import { routes } from '../../gateway/rest/routes/register.ts';
import { subgraphs } from '../../subgraphs/register.ts';
import { repositoryRoot } from '../harness/server.ts';
import { productTree, sourceTree } from './source-tree.ts';
import type { Node } from './source-tree.ts';

const doors = [identity, ...subgraphs];

/** Decisions 4: every code of the contract with its status. */
const contract: Readonly<Record<number, readonly string[]>> = {
  400: ['validation_error', 'cursor_expired', 'invalid_cursor', 'invalid_parameter', 'payload_too_large'],
  401: ['unauthenticated', 'totp_invalid'],
  403: [
    'permission_denied', 'totp_required', 'totp_locked', 'quota_exceeded', 'scope_not_approved', 'subscription_required',
    'enrollment_required', 'prerequisite_not_met', 'lessons_incomplete', 'attempts_exhausted', 'exam_locked',
  ],
  404: ['not_found', 'extension_not_found', 'version_not_found', 'course_not_found'],
  409: [
    'duplicate_content', 'idempotency_key_reused', 'idempotency_in_progress', 'incompatible_pod_version', 'install_in_progress',
    'already_installed', 'attempt_in_progress', 'attempt_expired', 'attempt_already_submitted', 'already_enrolled', 'already_exists',
    'already_redeemed', 'invalid_transition', 'loop_not_ready', 'loop_broken', 'review_required',
  ],
  429: ['rate_limit_exceeded'],
  500: ['internal_error'],
  503: ['unavailable'],
};

/** What any area can answer must always be in the catalogue; the codes of an area arrive with it. */
const ofEveryArea = [
  'validation_error', 'cursor_expired', 'invalid_cursor', 'invalid_parameter', 'payload_too_large', 'unauthenticated', 'permission_denied', 'totp_required',
  'not_found', 'duplicate_content', 'idempotency_key_reused', 'idempotency_in_progress', 'already_exists', 'invalid_transition', 'rate_limit_exceeded',
  'internal_error', 'unavailable',
];

test('every error code has the status of the contract', () => {
  const statusOf = Object.fromEntries(Object.entries(contract).flatMap(([status, codes]) => codes.map((code) => [code, Number(status)])));
  expect(statusOf).toMatchObject(errorStatus);
  expect(Object.keys(errorStatus)).toEqual(expect.arrayContaining(ofEveryArea));
});

test('every operation is in a file of its own name and goes through its door', () => {
  const kinds = ['query', 'command', 'groupedCommand'];
  const isOperation = ({ type, callee, arguments: given }: Node): boolean =>
    type === 'CallExpression' && kinds.includes((callee as Node)['name'] as string) && (given as Node[])[0]?.type === 'ObjectExpression';
  const nameOf = ({ arguments: given }: Node): string => {
    const { properties } = (given as Node[])[0] as unknown as { properties: { key?: { name: string }; value: { value: string } }[] };
    return properties.find(({ key }) => key?.name === 'name')!.value.value;
  };
  for (const { name: slice, operations } of doors) {
    const folder = slice === 'identity' ? 'gateway/identity/' : `subgraphs/${slice}/`;
    const defined = productTree()
      .filter(({ path }) => path.startsWith(folder))
      .flatMap(({ path, nodes }) => nodes.filter(isOperation).map((node) => ({ path, name: nameOf(node) })));
    expect(defined.map(({ name }) => name).sort(), folder).toEqual(operations.map(({ facts }) => facts.name).sort());
    for (const { path, name } of defined) expect(path).toBe(`${folder}operations/${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.ts`);
  }
  const names = doors.flatMap(({ operations }) => operations.map(({ facts }) => facts.name));
  expect(names.filter((name, index) => names.indexOf(name) !== index), 'two operations of one name').toEqual([]);
});

test('every document is in a file of its own name, and a row or a test asks it', () => {
  const nameOf = ({ definitions }: DocumentNode): (string | undefined)[] => definitions.flatMap((definition) => (definition.kind === 'OperationDefinition' ? [definition.name?.value] : []));
  const folder = join(repositoryRoot, 'schema/operations');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.graphql'));
  for (const file of files) expect(nameOf(parse(readFileSync(join(folder, file), 'utf8'))), file).toEqual([file.replace(/^.*\/|\.graphql$/g, '')]);

  const documents = files.map((file) => file.replace(/^.*\/|\.graphql$/g, ''));
  const asked = routes.flatMap(({ document }) => nameOf(document));
  expect(documents).toEqual(expect.arrayContaining(asked));
  const tests = sourceTree().filter(({ path }) => path.startsWith('test/')).map(({ text }) => text).join('\n');
  expect(documents.filter((name) => !asked.includes(name) && !tests.includes(`${name}Document`))).toEqual([]);
});

test('no two rows of REST have one method and path', () => {
  const addresses = routes.map(({ method, path }) => `${method} ${path}`);
  expect(addresses.filter((address, index) => addresses.indexOf(address) !== index)).toEqual([]);
});

test('every event that a slice tells can be listened for by name, and one slice alone tells it', () => {
  const told = doors.flatMap(({ events = [] }) => events.flatMap(({ types }) => types));
  expect(eventNames).toEqual(expect.arrayContaining(told));
  expect(told).toHaveLength(new Set(told).size);
});
