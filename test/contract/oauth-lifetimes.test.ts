import { setTimeout as delay } from 'node:timers/promises';
import { TOTP } from 'otpauth';
import * as openid from 'openid-client';
import { afterAll, beforeAll, expect } from 'vitest';
import { withKey } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually } from '../harness/eventually.ts';
import { ask, demoApplication, signIn, trade } from '../harness/oauth.ts';
import type { Tokens } from '../harness/oauth.ts';
import { arrival, PlainBrowser, screen } from '../harness/plain-browser.ts';
import { rawRequest } from '../harness/raw-request.ts';
import { startServer } from '../harness/server.ts';
import type { Server } from '../harness/server.ts';
import { expectError } from '../harness/shapes.ts';

// Lifetimes that a test can wait for, and codes of authenticators, which are good once: a server of one's own.
const accessSeconds = 4;
const refreshSeconds = 8;
const stepUpSeconds = 6;

let server: Server;
beforeAll(async () => {
  server = await startServer({ env: { OAUTH_ACCESS_TTL_SECONDS: `${accessSeconds}`, OAUTH_REFRESH_TTL_SECONDS: `${refreshSeconds}`, STEP_UP_TTL_SECONDS: `${stepUpSeconds}` } });
});
afterAll(() => server.stop());

type Role = 'sovereign' | 'architect' | 'admin' | 'editor' | 'viewer' | 'learner';

/** A code counts once, and ±1 step is accepted: so three sign-ins of a user need no wait. */
const used = new Map<Role, number>();
function codeOf(role: Role): string {
  const steps = used.get(role) ?? -1;
  used.set(role, steps + 1);
  return new TOTP({ secret: server.credentials.users[role].totp_secret! }).generate({ timestamp: Date.now() + steps * 30_000 });
}

async function connect(role: Role, scope: string): Promise<Tokens> {
  const application = await demoApplication(server);
  const asked = await ask(application, scope);
  const user = server.credentials.users[role];
  const first = screen(await signIn(new PlainBrowser(server.baseUrl), asked.url, user));
  const consent = user.totp_secret === undefined ? first : screen(await first.press('Continue', { code: codeOf(role) }));
  return trade(application, asked, arrival(await consent.press('Allow')));
}

const bearer = ({ access_token: token }: Pick<Tokens, 'access_token'>) => withKey(server, token);
const tracks = (tokens: Tokens) => bearer(tokens).post('/graphql', { query: '{ tracks { edges { node { id } } } }' });

clause('OAUTH-EXPIRY-001', 'decisions §3: an access token ends at its time, and a refresh gives the next', async () => {
  const tokens = await connect('editor', 'memory.read');
  expect(tokens.expires_in).toBe(accessSeconds);
  expect((await bearer(tokens).get('/v1/memory')).status).toBe(200);
  await eventually(async () => expectError(await bearer(tokens).get('/v1/memory'), 401, 'unauthenticated'));
  const next = await openid.refreshTokenGrant((await demoApplication(server)).config, tokens.refresh_token!);
  expect((await bearer(next).get('/v1/memory')).status).toBe(200);
});

clause('OAUTH-EXPIRY-002', 'decisions §1: OAUTH_REFRESH_TTL_SECONDS ends a refresh token that nobody uses; one in use lives on', async () => {
  const { config } = await demoApplication(server);
  const unused = await connect('editor', 'memory.read');
  let live = await connect('editor', 'memory.read');
  const until = Date.now() + (refreshSeconds + 2) * 1000;
  // Time is what is tested here.
  for (; Date.now() < until; await delay(1500)) live = await openid.refreshTokenGrant(config, live.refresh_token!);
  await expect(openid.refreshTokenGrant(config, unused.refresh_token!)).rejects.toMatchObject({ error: 'invalid_grant' });
  live = await openid.refreshTokenGrant(config, live.refresh_token!);
  expect((await bearer(live).get('/v1/memory')).status).toBe(200);
});

clause('OAUTH-TOTP-001', 'decisions §3: a user with an authenticator gives a code at the sign-in; a wrong one is said, a used one is refused', async () => {
  const { url } = await ask(await demoApplication(server), 'memory.read');
  const code = codeOf('sovereign');
  const asking = screen(await signIn(new PlainBrowser(server.baseUrl), url, server.credentials.users.sovereign));
  expect(asking.html).toContain('authenticator');
  const wrong = screen(await asking.press('Continue', { code: code === '000000' ? '000001' : '000000' }));
  expect(wrong.html).toContain('role="alert"');
  expect(screen(await wrong.press('Continue', { code })).html).toContain('Allow Demo Application?');
  const again = screen(await signIn(new PlainBrowser(server.baseUrl), url, server.credentials.users.sovereign));
  expect(screen(await again.press('Continue', { code })).html).toContain('role="alert"');
});

clause('OAUTH-GROWTH-001', 'decisions §3: with scope growth the token counts as stepped up for STEP_UP_TTL_SECONDS, and no refresh prolongs that', async () => {
  let tokens = await connect('architect', 'growth');
  expect((await tracks(tokens)).body).toMatchObject({ data: { tracks: { edges: expect.any(Array) as unknown[] } } });
  await eventually(async () => {
    tokens = await openid.refreshTokenGrant((await demoApplication(server)).config, tokens.refresh_token!);
    expect((await tracks(tokens)).text).toContain('totp_required');
  });
});

clause('OAUTH-GROWTH-002', 'decisions §3: a workspace Admin may allow growth; without the scope a token does not reach it, whoever the user is', async () => {
  expect((await tracks(await connect('admin', 'growth'))).body).toMatchObject({ data: { tracks: { edges: expect.any(Array) as unknown[] } } });
  expect((await tracks(await connect('architect', 'memory.read'))).text).toContain('permission_denied');
});

clause('OAUTH-MEMBER-001', 'decisions §3: a removed membership ends the tokens that work in its workspace', async () => {
  const tokens = await connect('viewer', 'memory.read');
  expect((await bearer(tokens).get('/v1/memory')).status).toBe(200);
  const removed = await withKey(server, server.credentials.users.architect.session_token).delete(`/v1/members/${server.credentials.users.viewer.id}?workspace_id=${server.credentials.workspaces.default}`);
  expect(removed.status).toBe(200);
  await eventually(async () => expectError(await bearer(tokens).get('/v1/memory'), 401, 'unauthenticated'), 1_500);
});

clause('OAUTH-RESTART-001', 'decisions §3: clients and the signing key survive a restart', async () => {
  const keys = async () => (await withKey(server, null).get('/oauth/jwks')).body;
  const before = await keys();
  await server.restart();
  expect(await keys()).toEqual(before);
  expect((await bearer(await connect('learner', 'memory.read')).get('/v1/memory')).status).toBe(200);
});

clause('OAUTH-HTTPS-001', 'decisions §1: behind a proxy that speaks HTTPS the issuer is BASE_URL, cookies are Secure, and plain HTTP is redirected', async () => {
  await using proxied = await startServer({ env: { TRUST_PROXY: 'true', BASE_URL: 'https://api.example' } });
  const at = (path: string, headers: Record<string, string> = {}) => rawRequest(proxied.baseUrl + path, { 'x-forwarded-host': 'api.example', 'x-forwarded-proto': 'https', ...headers });
  expect(JSON.parse((await at('/.well-known/oauth-authorization-server')).text)).toMatchObject({ issuer: 'https://api.example', token_endpoint: 'https://api.example/oauth/token' });
  const { client_id: clientId, redirect_uri: redirectUri } = proxied.credentials.oauth_client;
  const query = new URLSearchParams({ client_id: clientId, redirect_uri: redirectUri, response_type: 'code', scope: 'learn', code_challenge: 'A'.repeat(43), code_challenge_method: 'S256' });
  const answer = await at(`/oauth/authorize?${query}`);
  expect(answer.status).toBe(303);
  expect(answer.headers['set-cookie']!.length).toBeGreaterThan(0);
  for (const cookie of answer.headers['set-cookie']!) expect(cookie.toLowerCase()).toMatch(/(?=.*; secure)(?=.*httponly)(?=.*samesite=lax)/);
  expect(await at(`/oauth/authorize?${query}`, { 'x-forwarded-proto': 'http' })).toMatchObject({ status: 301, headers: { location: expect.stringContaining('https://api.example/oauth/authorize?') as string } });
  for (const path of ['/oauth/jwks', '/oauth/authorize', '/oauth/interaction/x']) expect((await at(path, { 'x-forwarded-host': 'other.example' })).status, path).toBe(404);
});
