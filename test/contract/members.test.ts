import { expect } from 'vitest';
import { z } from 'zod';
import { as } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { expectBody, expectError, expectInvalid, IsoUtc } from '../harness/shapes.ts';
import { newUser } from '../harness/users.ts';
import { uniqueWord } from '../harness/words.ts';

const server = sharedServer();
const architect = as(server, 'architect_user');

const Member = z.strictObject({ user_id: z.string(), workspace_id: z.string(), role: z.enum(['viewer', 'editor', 'admin', 'owner']) });
const MemberPage = z.looseObject({ data: z.array(Member), has_more: z.boolean() });
const NewUser = z.strictObject({
  id: z.string().startsWith('usr_'), numeric_id: z.int().min(1), email: z.string(), name: z.string(),
  organization_role: z.enum(['architect', 'sovereign']).nullable(), created_at: IsoUtc, password: z.string().min(16),
});
const newEmail = () => `${uniqueWord()}@demo.example`;

clause('USER-001', 'decisions §3: an Architect adds users; their one-time password signs them in', async () => {
  const email = newEmail();
  const made = expectBody(await architect.post('/v1/users', { email, name: 'New' }), 201, NewUser);
  expect(made).toMatchObject({ email, name: 'New', organization_role: null });
  expect((await as(server, 'nobody').post('/auth/sessions', { email, password: made.password })).status).toBe(201);
  expectError(await architect.post('/v1/users', { email: email.toUpperCase(), name: 'Again' }), 409, 'already_exists');
});

clause('USER-002', 'decisions §3: only a Sovereign makes an Architect or a Sovereign; who is neither adds nobody', async () => {
  for (const role of ['architect', 'sovereign']) {
    expectError(await architect.post('/v1/users', { email: newEmail(), name: 'Never', organization_role: role }), 403, 'permission_denied');
    expectBody(await as(server, 'sovereign_user').post('/v1/users', { email: newEmail(), name: 'High', organization_role: role }), 201, z.looseObject({ organization_role: z.literal(role) }));
  }
  for (const actor of ['admin_user', 'editor_user', 'learner_user', 'admin'] as const) expectError(await as(server, actor).post('/v1/users', { email: newEmail(), name: 'Never' }), 403, 'permission_denied');
});

clause('USER-003', 'decisions §4: bad input names the path at fault', async () => {
  expectInvalid(await architect.post('/v1/users', { email: 'nothing', name: 'x' }), 'email');
  expectInvalid(await architect.post('/v1/users', { email: newEmail(), name: ' ' }), 'name');
  expectInvalid(await architect.post('/v1/users', { email: newEmail(), name: 'x', organization_role: 'king' }), 'organization_role');
  expectInvalid(await architect.put(`/v1/members/${server.credentials.users.viewer.id}`, { role: 'king' }), 'role');
});

clause('MEMBER-001', 'decisions §3: the Owner of a workspace and an Architect manage its members', async () => {
  const { id } = await newUser(server);
  const owner = await newUser(server, { role: 'owner' });
  const workspaceId = server.credentials.workspaces.default;
  expect(expectBody(await owner.client.put(`/v1/members/${id}`, { role: 'editor' }), 200, Member)).toEqual({ user_id: id, workspace_id: workspaceId, role: 'editor' });
  expect(expectBody(await architect.put(`/v1/members/${id}`, { role: 'viewer', workspace_id: workspaceId }), 200, Member).role).toBe('viewer');
  const { data } = expectBody(await as(server, 'viewer_user').get('/v1/members?limit=100'), 200, MemberPage);
  expect(data).toContainEqual({ user_id: id, workspace_id: workspaceId, role: 'viewer' });
  expectBody(await owner.client.delete(`/v1/members/${id}`), 200, z.strictObject({ user_id: z.literal(id), workspace_id: z.literal(workspaceId), status: z.literal('removed') }));
  expectError(await owner.client.delete(`/v1/members/${id}`), 404, 'not_found');
});

clause('MEMBER-002', 'decisions §3: Admin, Editor, Viewer and keys do not manage members', async () => {
  for (const actor of ['admin_user', 'editor_user', 'viewer_user', 'admin', 'publisher'] as const) {
    expectError(await as(server, actor).put(`/v1/members/${server.credentials.users.learner.id}`, { role: 'owner' }), 403, 'permission_denied');
  }
});

clause('MEMBER-003', 'decisions §3: another organization has no such user, and no such workspace', async () => {
  const { users, organization_id: _organization } = server.credentials.other_tenant;
  expectError(await architect.put(`/v1/members/${users.learner.id}`, { role: 'viewer' }), 404, 'not_found');
  expectError(await as(server, 'other_architect_user').put(`/v1/members/${users.learner.id}`, { role: 'viewer', workspace_id: server.credentials.workspace_id }), 403, 'permission_denied');
  expectError(await as(server, 'other_architect_user').get(`/v1/members?workspace_id=${server.credentials.workspace_id}`), 403, 'permission_denied');
});

clause('MEMBER-004', 'decisions §3: the last Owner of a workspace stays', async () => {
  const other = as(server, 'other_sovereign_user');
  const { sovereign, architect: second } = server.credentials.other_tenant.users;
  // The other tenant's workspace has two owners; afterwards it has two again.
  expect((await other.put(`/v1/members/${second.id}`, { role: 'editor' })).status).toBe(200);
  expectError(await other.put(`/v1/members/${sovereign.id}`, { role: 'editor' }), 409, 'invalid_transition');
  expectError(await other.delete(`/v1/members/${sovereign.id}`), 409, 'invalid_transition');
  expect((await other.put(`/v1/members/${second.id}`, { role: 'owner' })).status).toBe(200);
});
