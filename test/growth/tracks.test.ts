import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Principal } from '#platform/principal.ts';
import { growth } from '../../subgraphs/growth/index.ts';
import { adminKey, openSlice, steppedUpAndOverMs, steppedUpUntilMs, userOf } from '../harness/slice.ts';
import type { Slice } from '../harness/slice.ts';

let slice: Slice;

beforeAll(async () => {
  slice = await openSlice(growth);
  await slice.database.execute(`insert into growth.system (organization_id, name) values ('org_a', 'Partners'), ('org_b', 'Theirs')`);
  await slice.database.execute(
    `insert into growth.track (organization_id, system_id, name, state, created_at)
     select organization_id, id, name || ' ' || number, 'active', now()
       from growth.system, generate_series(1, 10) as number where name in ('Partners', 'Theirs') order by id, number`,
  );
});
afterAll(() => slice.close());

interface Connection {
  edges: { node: { id: number; name: string; state: string; system: { name: string } } }[];
  pageInfo: { hasNextPage: boolean; endCursor: string };
  approximateTotal: number;
}
const fields = '{ edges { node { id name state system { id name } } } pageInfo { hasNextPage endCursor } approximateTotal }';
const tracks = `query ($first: Int, $after: String) { tracks(first: $first, after: $after) ${fields} }`;
const architect = userOf({ organizationRole: 'architect', steppedUpUntilMs });

test.each<[string, Principal]>([
  ['an architect', architect],
  ['a sovereign', userOf({ organizationRole: 'sovereign', steppedUpUntilMs })],
  ['a workspace admin', userOf({ access: { wsp_a: 'admin' }, steppedUpUntilMs })],
])('%s who stepped up sees the tracks of the organization, newest first', async (_who, principal) => {
  const { data, codes } = await slice.ask<{ tracks: Connection }>(principal, tracks);
  expect(codes).toEqual([]);
  expect(data!.tracks.edges.map(({ node }) => node.name)).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1].map((n) => `Partners ${n}`).concat('From first story to first referral'));
  expect(data!.tracks.edges[10]!.node).toMatchObject({ id: 1, state: 'DRAFT', system: { name: 'Ambassador programme' } });
  expect(data!.tracks.edges[0]!.node).toMatchObject({ id: 11, state: 'ACTIVE', system: { name: 'Partners' } });
  expect(data!.tracks.approximateTotal).toBe(11);
});

test('pages follow the numbers of the ids, not their digits', async () => {
  const ids: number[] = [];
  let after: string | null = null;
  for (let more = true; more; ) {
    const { data }: { data: { tracks: Connection } | null } = await slice.ask<{ tracks: Connection }>(architect, tracks, { first: 4, after });
    ids.push(...data!.tracks.edges.map(({ node }) => node.id));
    ({ hasNextPage: more, endCursor: after } = data!.tracks.pageInfo);
  }
  expect(ids).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
});

test.each<[string, Principal | null, string]>([
  ['nobody', null, 'unauthenticated'],
  ['an admin key', adminKey, 'permission_denied'],
  ['a learner', userOf(), 'permission_denied'],
  ['an editor who stepped up', userOf({ access: { wsp_a: 'write' }, steppedUpUntilMs }), 'permission_denied'],
  ['an architect who did not step up', userOf({ organizationRole: 'architect' }), 'totp_required'],
  ['an architect whose step-up is over', userOf({ organizationRole: 'architect', steppedUpUntilMs: steppedUpAndOverMs }), 'totp_required'],
])('%s is refused', async (_who, principal, code) => {
  const { codes, messages } = await slice.ask(principal, tracks);
  expect(codes).toEqual([code]);
  if (code === 'totp_required') expect(messages[0]).toContain('POST /auth/sessions/totp');
});

const ofOrganization = (id: string) => `{ _entities(representations: [{ __typename: "Organization", id: "${id}" }]) { ... on Organization { id tracks ${fields} } } }`;

test('the organization carries its tracks; a refusal leaves the rest of it', async () => {
  const { data } = await slice.ask<{ _entities: [{ tracks: Connection }] }>(architect, ofOrganization('org_a'));
  expect(data!._entities[0].tracks.approximateTotal).toBe(11);
  const refused = await slice.ask(userOf({ organizationRole: 'architect' }), ofOrganization('org_a'));
  expect(refused).toMatchObject({ codes: ['totp_required'], data: { _entities: [{ id: 'org_a', tracks: null }] } });
});

test("another organization's tracks are out of reach", async () => {
  expect((await slice.ask(architect, ofOrganization('org_b'))).data).toEqual({ _entities: [null] });
});
