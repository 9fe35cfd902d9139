import { expect } from 'vitest';
import { z } from 'zod';
import { as, withKey } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually } from '../harness/eventually.ts';
import { startServer } from '../harness/server.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { expectBody, expectError, expectInvalid, IsoUtc } from '../harness/shapes.ts';
import { codeOf, newUser, signIn, steppedUpUser, wrongCode } from '../harness/users.ts';
import { uniqueWord } from '../harness/words.ts';

const server = sharedServer();

const Enrollment = z.strictObject({ otpauth_uri: z.string(), secret: z.string().regex(/^[A-Z2-7]{32}$/), recovery_codes: z.array(z.string()).length(10) });
const SteppedUp = z.strictObject({ stepped_up_until: IsoUtc });
const tracks = { query: '{ tracks { approximateTotal } }' };
const codesOf = (body: unknown) => z.looseObject({ errors: z.array(z.looseObject({ extensions: z.looseObject({ code: z.string() }) })).optional() }).parse(body).errors?.map(({ extensions }) => extensions.code) ?? [];

clause('TOTP-001', 'decisions §3: the demo secrets step sessions up for 30 minutes, and what asks for it opens', async () => {
  const { email, password, totp_secret: secret } = server.credentials.users.admin;
  const client = withKey(server, await signIn(server, email, password));
  const before = await client.post('/graphql', tracks);
  expect(codesOf(before.body)).toEqual(['totp_required']);
  expect(before.text).toMatch(/\/auth\/sessions\/totp/);
  const { stepped_up_until: until } = expectBody(await client.post('/auth/sessions/totp', { code: codeOf(secret!) }), 200, SteppedUp);
  expect(new Date(until).getTime() - Date.now()).toBeGreaterThan(29 * 60_000);
  expect(new Date(until).getTime() - Date.now()).toBeLessThan(31 * 60_000);
  expect(codesOf((await client.post('/graphql', tracks)).body)).toEqual([]);
});

clause('TOTP-002', 'decisions §3: a code is accepted once, in any session', async () => {
  const user = await steppedUpUser(server);
  const other = withKey(server, await signIn(server, user.email, user.password));
  // The confirmation used the present step; the next one is within the tolerance.
  const code = codeOf(user.secret, 1);
  expectBody(await other.post('/auth/sessions/totp', { code }), 200, SteppedUp);
  expectError(await other.post('/auth/sessions/totp', { code }), 401, 'totp_invalid');
  expectError(await user.client.post('/auth/sessions/totp', { code }), 401, 'totp_invalid');
});

clause('TOTP-003', 'decisions §3: of twenty uses of one code at once, one counts', async () => {
  const user = await steppedUpUser(server);
  const code = codeOf(user.secret, 1);
  const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await user.client.post('/auth/sessions/totp', { code })).status));
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
});

clause('TOTP-004', 'decisions §3: five wrong codes lock the step-up for 15 minutes, however many come at once', async () => {
  const user = await steppedUpUser(server);
  const code = wrongCode(user.secret);
  const answers = await Promise.all(Array.from({ length: 50 }, () => user.client.post('/auth/sessions/totp', { code })));
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
  const locked = answers.filter(({ status }) => status === 403);
  expect(locked).toHaveLength(45);
  const error = expectError(locked[0]!, 403, 'totp_locked') as unknown as { retry_after_seconds?: number };
  const seconds = error.retry_after_seconds ?? Number(locked[0]!.headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(880);
  expect(seconds).toBeLessThanOrEqual(900);
  // The right code does not open it, nor a recovery code.
  expectError(await user.client.post('/auth/sessions/totp', { code: codeOf(user.secret, 1) }), 403, 'totp_locked');
  expectError(await user.client.post('/auth/sessions/totp', { code: user.recoveryCodes[0] }), 403, 'totp_locked');
});

clause('TOTP-005', 'decisions §3: the lock opens after its time, and a step-up ends after its', async () => {
  await using own = await startServer({ env: { TOTP_LOCK_SECONDS: '2', TOTP_FAILURES_MAX: '2', STEP_UP_TTL_SECONDS: '2' } });
  const user = await steppedUpUser(own, { organizationRole: 'architect' });
  expect(codesOf((await user.client.post('/graphql', tracks)).body)).toEqual([]);
  await eventually(async () => expect(codesOf((await user.client.post('/graphql', tracks)).body)).toEqual(['totp_required']));
  const code = wrongCode(user.secret);
  for (const status of [401, 401, 403]) expect((await user.client.post('/auth/sessions/totp', { code })).status).toBe(status);
  await eventually(async () => expectBody(await user.client.post('/auth/sessions/totp', { code: codeOf(user.secret, 1) }), 200, SteppedUp));
});

clause('TOTP-006', 'decisions §3: POST /auth/totp answers otpauth_uri, secret and recovery codes; it counts once confirmed', async () => {
  const user = await newUser(server);
  expectError(await user.client.post('/auth/sessions/totp', { code: '000000' }), 409, 'invalid_transition');
  expectError(await user.client.post('/auth/totp/confirm', { code: '000000' }), 409, 'invalid_transition');
  const { secret, otpauth_uri: uri } = expectBody(await user.client.post('/auth/totp'), 201, Enrollment);
  expect(uri).toMatch(/^otpauth:\/\/totp\//);
  expect(new URL(uri).searchParams.get('secret')).toBe(secret);
  expectError(await user.client.post('/auth/sessions/totp', { code: codeOf(secret) }), 409, 'invalid_transition');
  expectError(await user.client.post('/auth/totp/confirm', { code: wrongCode(secret) }), 401, 'totp_invalid');
  expectBody(await user.client.post('/auth/totp/confirm', { code: codeOf(secret) }), 200, z.strictObject({ confirmed_at: IsoUtc, stepped_up_until: IsoUtc }));
  expectBody(await user.client.get('/auth/sessions/current'), 200, z.looseObject({ totp_required: z.literal(true), stepped_up_until: IsoUtc }));
});

clause('TOTP-007', 'decisions §3: each recovery code counts once in place of a code', async () => {
  const user = await steppedUpUser(server);
  const [first, second] = user.recoveryCodes;
  const fresh = withKey(server, await signIn(server, user.email, user.password));
  expectBody(await fresh.post('/auth/sessions/totp', { code: first }), 200, SteppedUp);
  expectError(await fresh.post('/auth/sessions/totp', { code: first }), 401, 'totp_invalid');
  expectBody(await fresh.post('/auth/sessions/totp', { code: second!.toLowerCase().replace('-', ' ') }), 200, SteppedUp);
});

clause('TOTP-008', 'decisions §3: replacing an authenticator needs a code of it; the old one counts until the new one is confirmed', async () => {
  const user = await steppedUpUser(server);
  const fresh = withKey(server, await signIn(server, user.email, user.password));
  expectError(await fresh.post('/auth/totp'), 403, 'totp_required');
  const { secret, recovery_codes: codes } = expectBody(await user.client.post('/auth/totp'), 201, Enrollment);
  expectBody(await fresh.post('/auth/sessions/totp', { code: user.recoveryCodes[0] }), 200, SteppedUp);
  expectBody(await fresh.post('/auth/totp/confirm', { code: codeOf(secret) }), 200, z.looseObject({}));
  expectError(await fresh.post('/auth/sessions/totp', { code: user.recoveryCodes[1] }), 401, 'totp_invalid');
  expectBody(await fresh.post('/auth/sessions/totp', { code: codes[0] }), 200, SteppedUp);
});

clause('TOTP-009', 'decisions §3: an API key has no step-up, and growth tracks stay closed to it', async () => {
  expectError(await as(server, 'admin').post('/auth/sessions/totp', { code: '000000' }), 403, 'permission_denied');
  expect(codesOf((await as(server, 'admin').post('/graphql', tracks)).body)).toEqual(['permission_denied']);
  expect(codesOf((await as(server, 'editor_user').post('/graphql', tracks)).body)).toEqual(['permission_denied']);
});

clause('TOTP-010', 'decisions §6: a wrong code is not kept with its Idempotency-Key', async () => {
  const user = await steppedUpUser(server);
  const headers = { 'idempotency-key': uniqueWord() };
  expectError(await user.client.post('/auth/sessions/totp', { code: wrongCode(user.secret) }, headers), 401, 'totp_invalid');
  const right = await user.client.post('/auth/sessions/totp', { code: codeOf(user.secret, 1) }, headers);
  expect(right.status).toBe(200);
  const again = await user.client.post('/auth/sessions/totp', { code: codeOf(user.secret, 1) }, headers);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(again.text).toBe(right.text);
});

clause('TOTP-011', 'decisions §4: bad input names the path at fault', async () => {
  const { client } = await steppedUpUser(server);
  expectInvalid(await client.post('/auth/sessions/totp', {}), 'code');
  expectInvalid(await client.post('/auth/sessions/totp', { code: 123456 }), 'code');
  expectInvalid(await client.post('/auth/sessions/totp', { code: ' ' }), 'code');
});
