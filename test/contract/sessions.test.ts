import { expect } from 'vitest';
import { z } from 'zod';
import { as, withKey } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { roles } from '../harness/credentials.ts';
import { eventually } from '../harness/eventually.ts';
import { startServer } from '../harness/server.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { expectBody, expectError, expectInvalid, expectLimited, IsoUtc } from '../harness/shapes.ts';
import { newUser, signIn } from '../harness/users.ts';
import { uniqueWord } from '../harness/words.ts';

const server = sharedServer();
const nobody = as(server, 'nobody');

const User = z.strictObject({ id: z.string().startsWith('usr_'), numeric_id: z.int().min(1), email: z.string(), name: z.string(), organization_id: z.string(), organization_role: z.enum(['architect', 'sovereign']).nullable() });
const NewSession = z.strictObject({ token: z.string().regex(/^qs_[A-Za-z0-9_-]{43}$/), expires_at: IsoUtc, totp_required: z.boolean(), user: User });
const Session = z.strictObject({ id: z.string(), created_at: IsoUtc, expires_at: IsoUtc, stepped_up_until: IsoUtc.nullable(), totp_required: z.boolean(), user: User });

clause('SESSION-001', 'decisions §3: POST /auth/sessions answers 201 with token, expires_at, user and totp_required', async () => {
  for (const role of roles) {
    const { email, password, id, numeric_id: numericId, totp_secret: secret } = server.credentials.users[role];
    const session = expectBody(await nobody.post('/auth/sessions', { email, password }), 201, NewSession);
    expect(session.user).toMatchObject({ id, numeric_id: numericId, email, organization_role: role === 'architect' || role === 'sovereign' ? role : null });
    expect(session.totp_required).toBe(secret !== undefined);
    const lifeMs = new Date(session.expires_at).getTime() - Date.now();
    expect(lifeMs).toBeGreaterThan(11.9 * 3_600_000);
    expect(lifeMs).toBeLessThan(12.1 * 3_600_000);
  }
});

clause('SESSION-002', 'decisions §3: the e-mail address counts in any case', async () => {
  const { email, password } = server.credentials.users.viewer;
  expect((await nobody.post('/auth/sessions', { email: email.toUpperCase(), password })).status).toBe(201);
});

clause('SESSION-003', 'decisions §3: sign-in never tells whether the account exists', async () => {
  const answers = [
    await nobody.post('/auth/sessions', { email: server.credentials.users.editor.email, password: 'wrong' }),
    await nobody.post('/auth/sessions', { email: `${uniqueWord()}@demo.example`, password: 'wrong' }),
  ];
  const told = answers.map((answer) => {
    const { request_id: _requestId, ...rest } = expectError(answer, 401, 'unauthenticated');
    return rest;
  });
  expect(told[0]).toEqual(told[1]);
});

clause('SESSION-004', 'decisions §2: every session token of credentials.json works, not stepped up', async () => {
  for (const tenant of [server.credentials, server.credentials.other_tenant]) {
    for (const role of roles) {
      const { session_token: token, id } = tenant.users[role];
      const session = expectBody(await withKey(server, token).get('/auth/sessions/current'), 200, Session);
      expect(session).toMatchObject({ stepped_up_until: null, user: { id, organization_id: tenant.organization_id } });
    }
  }
});

clause('SESSION-005', 'decisions §3: DELETE /auth/sessions/current ends the session, at once and this one alone', async () => {
  const user = await newUser(server, { role: 'viewer' });
  const other = withKey(server, await signIn(server, user.email, user.password));
  expect((await other.get('/v1/memory')).status).toBe(200);
  expectBody(await user.client.delete('/auth/sessions/current'), 200, z.strictObject({ id: z.string(), status: z.literal('ended'), ended_at: IsoUtc }));
  expectError(await user.client.get('/auth/sessions/current'), 401, 'unauthenticated');
  expectError(await user.client.get('/v1/memory'), 401, 'unauthenticated');
  expect((await other.get('/v1/memory')).status).toBe(200);
});

clause('SESSION-006', 'decisions §3: only a session has a current session', async () => {
  for (const actor of ['admin', 'publisher'] as const) expectError(await as(server, actor).get('/auth/sessions/current'), 403, 'permission_denied');
  expectError(await nobody.get('/auth/sessions/current'), 401, 'unauthenticated');
});

clause('SESSION-007', 'decisions §3: a session works in the default workspace if the user has a role there', async () => {
  const { id } = expectBody(await as(server, 'editor_user').post('/v1/memory/store', { content: `By Edgar ${uniqueWord()}` }), 201, z.looseObject({ id: z.string(), workspace_id: z.literal(server.credentials.workspaces.default) }));
  expect((await as(server, 'viewer_user').get(`/v1/memory/${id}`)).status).toBe(200);
  expectError(await as(server, 'viewer_user').delete(`/v1/memory/${id}`), 403, 'permission_denied');
});

clause('SESSION-008', 'decisions §3: else in the first workspace where the user has one', async () => {
  const user = await newUser(server);
  const { research } = server.credentials.workspaces;
  expectError(await user.client.get('/v1/memory'), 403, 'permission_denied');
  expect((await as(server, 'sovereign_user').put(`/v1/members/${user.id}`, { role: 'editor', workspace_id: research })).status).toBe(200);
  expectBody(await user.client.post('/v1/memory/store', { content: `In research ${uniqueWord()}` }), 201, z.looseObject({ workspace_id: z.literal(research) }));
});

clause('SESSION-009', 'decisions §3: a role counts from the next request on', async () => {
  const user = await newUser(server, { role: 'viewer' });
  const sovereign = as(server, 'sovereign_user');
  expectError(await user.client.post('/v1/memory/store', { content: `Never ${uniqueWord()}` }), 403, 'permission_denied');
  expect((await sovereign.put(`/v1/members/${user.id}`, { role: 'editor' })).status).toBe(200);
  expect((await user.client.post('/v1/memory/store', { content: `Now ${uniqueWord()}` })).status).toBe(201);
  expect((await sovereign.delete(`/v1/members/${user.id}`)).status).toBe(200);
  expectError(await user.client.get('/v1/memory'), 403, 'permission_denied');
});

clause('SESSION-010', 'decisions §3: sign-in failures are throttled per account, whether it exists or not, and the right password does not open the lock', async () => {
  await using own = await startServer();
  const guest = as(own, 'nobody');
  const user = await newUser(own);
  for (const email of [user.email, `${uniqueWord()}@demo.example`]) {
    const statuses = await Promise.all(Array.from({ length: 30 }, async () => (await guest.post('/auth/sessions', { email, password: 'wrong' })).status));
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(20);
  }
  const locked = await guest.post('/auth/sessions', { email: user.email, password: user.password });
  expectLimited(locked);
  expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(800);
  expect((await user.client.get('/auth/sessions/current')).status).toBe(200);
  // Other accounts sign in from the same address, until it has failed too often at all of them.
  await signIn(own, own.credentials.users.viewer.email, own.credentials.users.viewer.password);
  await Promise.all(Array.from({ length: 100 }, () => guest.post('/auth/sessions', { email: `${uniqueWord()}@demo.example`, password: 'wrong' })));
  expectLimited(await guest.post('/auth/sessions', { email: own.credentials.users.viewer.email, password: own.credentials.users.viewer.password }));
});

clause('SESSION-011', 'decisions §3: the lock opens after its time; sessions end after theirs, which slides with use', async () => {
  await using own = await startServer({ env: { SIGN_IN_LOCK_SECONDS: '3', SIGN_IN_FAILURES_MAX: '2', SESSION_TTL_SECONDS: '3' } });
  const { email, password } = own.credentials.users.viewer;
  const guest = as(own, 'nobody');
  for (const expected of [401, 401, 429]) expect((await guest.post('/auth/sessions', { email, password: 'wrong' })).status).toBe(expected);
  const token = await eventually(() => signIn(own, email, password));
  const began = performance.now();
  // Each use moves the end on: it lives for longer than its 3 s, and then not longer.
  await eventually(async () => {
    expect((await withKey(own, token).get('/auth/sessions/current')).status).toBe(200);
    expect(performance.now() - began).toBeGreaterThan(5_000);
  });
  const { expires_at: expiresAt } = expectBody(await withKey(own, token).get('/auth/sessions/current'), 200, Session);
  await eventually(async () => expect(Date.now()).toBeGreaterThan(new Date(expiresAt).getTime() + 300));
  expectError(await withKey(own, token).get('/auth/sessions/current'), 401, 'unauthenticated');
});

clause('SESSION-012', 'decisions §6: sign-in with an Idempotency-Key answers the first session again, to the same request alone', async () => {
  const user = await newUser(server);
  const headers = { 'idempotency-key': uniqueWord() };
  const body = { email: user.email, password: user.password };
  const first = await nobody.post('/auth/sessions', body, headers);
  const again = await nobody.post('/auth/sessions', body, headers);
  expect(again.text).toBe(first.text);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expectError(await nobody.post('/auth/sessions', { ...body, email: server.credentials.users.viewer.email, password: server.credentials.users.viewer.password }, headers), 409, 'idempotency_key_reused');
});

clause('SESSION-013', 'decisions §6: a wrong password is not kept with its key', async () => {
  const user = await newUser(server);
  const headers = { 'idempotency-key': uniqueWord() };
  const send = (password: string) => nobody.post('/auth/sessions', { email: user.email, password }, headers);
  expectError(await send('wrong'), 401, 'unauthenticated');
  const right = await send(user.password);
  expect(right.status).toBe(201);
  expect(right.headers.get('idempotent-replayed')).toBeNull();
});

clause('SESSION-014', 'decisions §4: bad input names the path at fault', async () => {
  expectInvalid(await nobody.post('/auth/sessions', { email: 'a@b.c' }), 'password');
  expectInvalid(await nobody.post('/auth/sessions', { password: 'x' }), 'email');
  expectInvalid(await nobody.post('/auth/sessions', { email: 1, password: 'x' }), 'email');
  expectInvalid(await nobody.post('/auth/sessions', { email: 'a@b.c', password: 'x', remember: true }), 'remember');
});

clause('PASSWORD-001', 'decisions §3: a new password ends all other sessions of the user, and is the one that signs in', async () => {
  const user = await newUser(server);
  const other = withKey(server, await signIn(server, user.email, user.password));
  expectError(await user.client.post('/auth/password', { current_password: 'wrong', new_password: 'correct horse battery' }), 401, 'unauthenticated');
  expectInvalid(await user.client.post('/auth/password', { current_password: user.password, new_password: 'short' }), 'new_password');
  expectBody(await user.client.post('/auth/password', { current_password: user.password, new_password: 'correct horse battery' }), 200, z.strictObject({ changed_at: IsoUtc, sessions_ended: z.literal(1) }));
  expectError(await other.get('/auth/sessions/current'), 401, 'unauthenticated');
  expect((await user.client.get('/auth/sessions/current')).status).toBe(200);
  expectError(await nobody.post('/auth/sessions', { email: user.email, password: user.password }), 401, 'unauthenticated');
  await signIn(server, user.email, 'correct horse battery');
});
