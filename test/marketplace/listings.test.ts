import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Principal } from '#platform/principal.ts';
import { marketplace } from '../../subgraphs/marketplace/index.ts';
import { adminKey, openSlice, userOf } from '../harness/slice.ts';
import type { Slice } from '../harness/slice.ts';

let slice: Slice;

beforeAll(async () => {
  slice = await openSlice(marketplace);
  await slice.database.execute(
    `insert into marketplace.listing (id, slug, name, tagline, description, publisher_name, pricing, created_at, updated_at)
     values ('lst_0', 'unreviewed', 'Unreviewed', '', '', 'Somebody', '{"model": "free"}', now(), now())`,
  );
  await slice.database.execute(
    `insert into marketplace.install (id, organization_id, slug, version, state, health, created_at, updated_at)
     values ('ins_a1', 'org_a', 'meeting-minutes', '1.4.2', 'installed', 'healthy', now(), now()),
            ('ins_a2', 'org_a', 'contract-radar', '2.1.0', 'queued', null, now(), now()),
            ('ins_b', 'org_b', 'meeting-minutes', '1.4.0', 'failed', 'failed', now(), now())`,
  );
});
afterAll(() => slice.close());

interface Listings {
  listings: { edges: { node: { slug: string; latestVersion: string; pricing: object } }[]; pageInfo: { hasNextPage: boolean; endCursor: string }; approximateTotal: number };
}
const listings = `query ($first: Int, $after: String) {
  listings(first: $first, after: $after) {
    edges { node { slug latestVersion pricing { model amount currency interval trialDays pausable } } }
    pageInfo { hasNextPage endCursor }
    approximateTotal
  }
}`;

test('everybody browses the listings with an approved version, page by page', async () => {
  const first = await slice.ask<Listings>(null, listings, { first: 2 });
  expect(first.codes).toEqual([]);
  expect(first.data!.listings.edges.map(({ node }) => node.slug)).toEqual(['support-answers', 'contract-radar']);
  expect(first.data!.listings).toMatchObject({ approximateTotal: 3, pageInfo: { hasNextPage: true } });
  expect(first.data!.listings.edges[1]!.node.pricing).toEqual({ model: 'SUBSCRIPTION', amount: 4900, currency: 'EUR', interval: 'MONTH', trialDays: 14, pausable: true });

  const second = await slice.ask<Listings>(null, listings, { first: 2, after: first.data!.listings.pageInfo.endCursor });
  expect(second.data!.listings.edges.map(({ node }) => node)).toEqual([
    { slug: 'meeting-minutes', latestVersion: '1.4.2', pricing: { model: 'FREE', amount: 0, currency: null, interval: null, trialDays: 0, pausable: false } },
  ]);
  expect(second.data!.listings.pageInfo.hasNextPage).toBe(false);
});

test('a listing is found by its slug, one without an approved version is not', async () => {
  const { data } = await slice.ask<{ _entities: unknown[] }>(
    null,
    `{ _entities(representations: [
        { __typename: "Listing", slug: "contract-radar" }, { __typename: "Listing", slug: "unreviewed" }, { __typename: "Listing", slug: "nowhere" }
      ]) { ... on Listing { name installsCount } } }`,
  );
  expect(data!._entities).toEqual([{ name: 'Contract Radar', installsCount: 0 }, null, null]);
});

const installs = (organizationId: string) =>
  `{ _entities(representations: [{ __typename: "Organization", id: "${organizationId}" }]) { ... on Organization { id installs { edges { node { id slug state health } } } } } }`;
interface Installs {
  _entities: [{ id: string; installs: { edges: { node: { id: string } }[] } | null } | null];
}

test.each(['architect', 'sovereign'] as const)('a %s sees the installs of the own organization', async (organizationRole) => {
  const { data, codes } = await slice.ask<Installs>(userOf({ organizationRole }), installs('org_a'));
  expect(codes).toEqual([]);
  expect(data!._entities[0]!.installs!.edges.map(({ node }) => node)).toEqual([
    { id: 'ins_a2', slug: 'contract-radar', state: 'QUEUED', health: null },
    { id: 'ins_a1', slug: 'meeting-minutes', state: 'INSTALLED', health: 'HEALTHY' },
  ]);
});

test.each<[string, Principal]>([['a learner', userOf()], ['a workspace admin', userOf({ access: { wsp_a: 'admin' } })], ['an admin key', adminKey]])(
  '%s is refused the installs, but keeps the rest of the organization',
  async (_who, principal) => {
    const { data, codes } = await slice.ask<Installs>(principal, installs('org_a'));
    expect(codes).toEqual(['permission_denied']);
    expect(data!._entities[0]).toEqual({ id: 'org_a', installs: null });
  },
);

test("another organization's installs are out of reach, by organization and by id", async () => {
  const architect = userOf({ organizationRole: 'architect' });
  expect((await slice.ask<Installs>(architect, installs('org_b'))).data!._entities).toEqual([null]);
  const byId = `{ _entities(representations: [{ __typename: "Install", id: "ins_b" }, { __typename: "Install", id: "ins_a1" }]) { ... on Install { version } } }`;
  expect((await slice.ask(architect, byId)).data).toEqual({ _entities: [null, { version: '1.4.2' }] });
  expect((await slice.ask(userOf(), byId)).data).toEqual({ _entities: [null, null] });
  expect((await slice.ask(null, byId)).data).toEqual({ _entities: [null, null] });
});
