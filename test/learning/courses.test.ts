import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Principal } from '#platform/principal.ts';
import { learning } from '../../subgraphs/learning/index.ts';
import { adminKey, openSlice, userOf } from '../harness/slice.ts';
import type { Slice } from '../harness/slice.ts';

let slice: Slice;

beforeAll(async () => {
  slice = await openSlice(learning);
  await slice.database.execute(
    `insert into learning.course (id, slug, organization_id, title, summary, discipline, role, level, published_at, created_at)
     values ('crs_zz_a', 'house-rules', 'org_a', 'House rules', '', 'Ops', 'everyone', 'foundational', now(), now()),
            ('crs_zz_b', 'their-rules', 'org_b', 'Their rules', '', 'Ops', 'everyone', 'foundational', now(), now()),
            ('crs_zz_c', 'draft', 'org_a', 'Draft', '', 'Ops', 'everyone', 'foundational', null, now()),
            ('crs_zz_d', 'platform-draft', null, 'Draft', '', 'Ops', 'everyone', 'foundational', null, now())`,
  );
  await slice.database.execute(
    `insert into learning.enrollment (id, organization_id, user_id, course_slug, state, enrolled_at, completed_at)
     values ('enr_1', 'org_a', 'usr_a', 'house-rules', 'completed', now(), now()),
            ('enr_2', 'org_a', 'usr_a', 'running-extensions', 'active', now(), null),
            ('enr_3', 'org_b', 'usr_b', 'their-rules', 'active', now(), null)`,
  );
});
afterAll(() => slice.close());

interface Courses {
  courses: { edges: { node: { slug: string } }[] };
}
const slugs = async (principal: Principal | null, args = ''): Promise<string[]> => {
  const { data, codes } = await slice.ask<Courses>(principal, `{ courses${args} { edges { node { slug title summary discipline role level publishedAt createdAt } } } }`);
  expect(codes).toEqual([]);
  return data!.courses.edges.map(({ node }) => node.slug);
};
const catalogue = ['building-on-the-graph', 'running-extensions', 'writing-for-memory'];

test("everybody sees the platform's published courses, a credential adds its organization's own", async () => {
  expect(await slugs(null)).toEqual(catalogue);
  expect(await slugs(adminKey)).toEqual(['house-rules', ...catalogue]);
  expect(await slugs(userOf({ organizationId: 'org_b' }))).toEqual(['their-rules', ...catalogue]);
});

test('courses are filtered by discipline and level, alone and together', async () => {
  expect(await slugs(null, '(discipline: DEV)')).toEqual(['building-on-the-graph']);
  expect(await slugs(null, '(level: PROFICIENT)')).toEqual(['running-extensions']);
  expect(await slugs(userOf(), '(discipline: OPS, level: FOUNDATIONAL)')).toEqual(['house-rules']);
  expect(await slugs(null, '(discipline: CELLS)')).toEqual([]);
});

test('a cursor belongs to its filter', async () => {
  const page = `query ($level: CourseLevel, $after: String) { courses(first: 1, level: $level, after: $after) { pageInfo { endCursor } } }`;
  const first = await slice.ask<{ courses: { pageInfo: { endCursor: string } } }>(null, page);
  const after = first.data!.courses.pageInfo.endCursor;
  expect((await slice.ask(null, page, { after })).codes).toEqual([]);
  expect((await slice.ask(null, page, { after, level: 'MASTER' })).codes).toEqual(['invalid_cursor']);
});

const enrollments = (userId: string) =>
  `{ _entities(representations: [{ __typename: "User", id: "${userId}" }]) { ... on User { id enrollments { edges { node { id courseSlug state completedAt } } } } } }`;
interface Enrollments {
  _entities: [{ id: string; enrollments: { edges: { node: { id: string; courseSlug: string; state: string } }[] } | null } | null];
}

test.each<[string, Principal]>([
  ['the user', userOf()],
  ['an architect of the organization', userOf({ userId: 'usr_c', organizationRole: 'architect' })],
])("%s sees the user's enrollments", async (_who, principal) => {
  const { data, codes } = await slice.ask<Enrollments>(principal, enrollments('usr_a'));
  expect(codes).toEqual([]);
  expect(data!._entities[0]!.enrollments!.edges.map(({ node }) => node)).toMatchObject([
    { id: 'enr_2', courseSlug: 'running-extensions', state: 'ACTIVE', completedAt: null },
    { id: 'enr_1', courseSlug: 'house-rules', state: 'COMPLETED' },
  ]);
});

test.each<[string, Principal]>([
  ['a colleague', userOf({ userId: 'usr_c' })],
  ['a workspace admin', userOf({ userId: 'usr_c', access: { wsp_a: 'admin' } })],
  ['an admin key', adminKey],
])('%s is refused them, but keeps the rest of the user', async (_who, principal) => {
  const { data, codes } = await slice.ask<Enrollments>(principal, enrollments('usr_a'));
  expect(codes).toEqual(['permission_denied']);
  expect(data!._entities[0]).toEqual({ id: 'usr_a', enrollments: null });
});

test("an architect of another organization and a caller without a credential learn nothing", async () => {
  const stranger = await slice.ask<Enrollments>(userOf({ organizationRole: 'architect' }), enrollments('usr_b'));
  expect(stranger.data!._entities[0]!.enrollments!.edges).toEqual([]);
  expect((await slice.ask<Enrollments>(null, enrollments('usr_a'))).data!._entities).toEqual([null]);
});
