import { expect } from 'vitest';
import { z } from 'zod';
import { as } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { startServer } from '../harness/server.ts';
import { sharedServer } from '../harness/shared-server.ts';

const server = sharedServer();
const client = as(server, 'read_write');

const Reply = z.looseObject({ errors: z.array(z.looseObject({ message: z.string(), extensions: z.looseObject({ code: z.string() }) })).optional() });

/** Null when it was run; else the refusal's code and words. */
async function refusalOf(query: string, variables: Record<string, unknown> = {}, to = client): Promise<{ code: string; message: string } | null> {
  const [error] = Reply.parse((await to.post('/graphql', { query, variables })).body).errors ?? [];
  return error === undefined ? null : { code: error.extensions.code, message: error.message };
}

const invalid = (message: RegExp) => ({ code: 'validation_error', message: expect.stringMatching(message) as string });
const list = (count: number, each: (index: number) => string): string => Array.from({ length: count }, (_, index) => each(index)).join(' ');

clause('GQL-MEASURE-001', 'decisions §13: a document may be 12 fields deep', async () => {
  // A vault's workspaces have a vault, and so on.
  const deep = (levels: number): string => (levels === 0 ? '__typename' : `workspaces(first: 1) { edges { node { ${deep(levels - 1)} } } }`);
  expect(await refusalOf(`{ ${deep(1)} }`)).toBeNull();
  expect(await refusalOf(`{ ${'a { '.repeat(12)} b ${'}'.repeat(12)} }`)).toEqual(invalid(/[Dd]epth|12/));
});

clause('GQL-MEASURE-002', 'decisions §13: a document may have 30 aliases', async () => {
  expect(await refusalOf(`{ ${list(30, (index) => `a${index}: organization { id }`)} }`)).toBeNull();
  expect(await refusalOf(`{ ${list(31, (index) => `a${index}: organization { id }`)} }`)).toMatchObject({ code: 'validation_error' });
});

clause('GQL-MEASURE-003', 'decisions §13: a document may have 50 directives', async () => {
  const directives = (count: number): string => list(count, () => '... @include(if: true) { __typename }');
  expect(await refusalOf(`{ ${directives(50)} }`)).toBeNull();
  expect(await refusalOf(`{ ${directives(51)} }`)).toEqual(invalid(/50 directives/));
});

clause('GQL-MEASURE-004', 'decisions §13: a document of more than 10,000 tokens is not read', async () => {
  expect(await refusalOf(`{ ${list(500, () => '__typename')} }`)).toBeNull();
  expect(await refusalOf(`{ ${list(10_001, () => '__typename')} }`)).toEqual(invalid(/10,?000 tokens/));
});

const members = (first: string): string => `{ workspaces(first: 100) { edges { node { id vault { id } } } } members(first: ${first}) { edges { node { userId role workspaceId } } } }`;

clause('GQL-MEASURE-005', 'decisions §13: the cost of an operation counts the sizes of its lists, given as literals or variables', async () => {
  expect(await refusalOf(members('100'))).toBeNull();
  const objects = (first: string): string => `query ${first === '$n' ? '($n: Int)' : ''} { memories(first: ${first}) { edges { node { ${list(24, (index) => `f${index}: id`)} } } } }`;
  expect(await refusalOf(objects('800'))).toBeNull();
  expect(await refusalOf(objects('900'))).toEqual(invalid(/can answer 2\d{4} fields; at most 20000/));
  expect(await refusalOf(objects('$n'), { n: 800 })).toBeNull();
  expect(await refusalOf(objects('$n'), { n: 900 })).toEqual(invalid(/at most 20000/));
});

clause('GQL-MEASURE-006', 'decisions §13: nested lists multiply, and fragments hide nothing', async () => {
  const nestedLists = (first: number): string => `{ workspaces(first: ${first}) { edges { node { ...Held } } } } fragment Held on Workspace { memories(first: 100) { edges { node { id status } } } }`;
  expect(await refusalOf(nestedLists(90))).toBeNull();
  expect(await refusalOf(nestedLists(100))).toEqual(invalid(/at most 20000/));
  // Fragments that double one another are judged in no time, and refused.
  const doubling = list(20, (index) => `fragment F${index} on Workspace { ...F${index + 1} memories(first: 2) { edges { node { workspace { ...F${index + 1} } } } } }`);
  const began = performance.now();
  expect(await refusalOf(`{ workspaces { edges { node { ...F0 } } } } ${doubling} fragment F20 on Workspace { id }`)).toMatchObject({ code: 'validation_error' });
  expect(performance.now() - began).toBeLessThan(5_000);
});

clause('GQL-MEASURE-007', 'decisions §13: the bound of the cost is a setting', async () => {
  await using own = await startServer({ env: { GRAPHQL_COST_MAX: '3' } });
  const asker = as(own, 'read_write');
  expect(await refusalOf('{ organization { id name } }', {}, asker)).toBeNull();
  expect(await refusalOf('{ organization { id name plan } }', {}, asker)).toEqual(invalid(/can answer 4 fields; at most 3/));
});

clause('GQL-MEASURE-008', 'decisions §13: several operations in one request are refused', async () => {
  const answer = await client.post('/graphql', [{ query: '{ __typename }' }, { query: '{ __typename }' }]);
  expect(answer.status).toBe(400);
  expect(Reply.parse(answer.body).errors).toHaveLength(1);
});

clause('GQL-MEASURE-009', 'decisions §13: no introspection in production unless allowed', async () => {
  for (const query of ['{ __schema { types { name } } }', '{ __type(name: "User") { name } }']) expect(await refusalOf(query)).toMatchObject({ code: 'validation_error' });
});

clause('GQL-MEASURE-010', 'decisions §4, §13: what costs too much, or names no operation of the document, is 400, not a fault of ours', async () => {
  const dear = `{ memories(first: 1000) { edges { node { ${list(24, (index) => `f${index}: id`)} } } } }`;
  const wrong = [{ query: dear }, { query: 'query A { __typename }', operationName: 'B' }, { query: 'query A { __typename } query B { __typename }' }];
  for (const body of wrong) {
    const answer = await client.post('/graphql', body);
    expect(answer.status, body.query).toBe(400);
    expect(answer.body).toMatchObject({ errors: [{ extensions: { code: 'validation_error', status: 400 } }] });
  }
});

clause('GQL-MEASURE-011', 'decisions §13: of first and last the larger counts, since a page before a cursor goes by last', async () => {
  const objects = (page: string): string => `{ memories(${page}) { edges { node { ${list(24, (index) => `f${index}: id`)} } } } }`;
  expect(await refusalOf(objects('first: 0, last: 1000'))).toEqual(invalid(/can answer 24001 fields/));
  expect(await refusalOf(objects('first: 1, last: 1'))).toBeNull();
});
