import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import * as openid from 'openid-client';
import { expect } from 'vitest';
import { z } from 'zod';
import { as, withKey } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually } from '../harness/eventually.ts';
import { store } from '../harness/memory.ts';
import { ask, demoApplication, discovered, overPlainHttp, signIn, trade } from '../harness/oauth.ts';
import type { Application, Person, Tokens } from '../harness/oauth.ts';
import { arrival, PlainBrowser, screen } from '../harness/plain-browser.ts';
import type { Target } from '../harness/server.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { expectError } from '../harness/shapes.ts';
import { uniqueWord } from '../harness/words.ts';

const server = sharedServer();
const { users } = server.credentials;

/** The whole way of a user who allows what is asked. */
async function connect(application: Application, scope: string, person: Person = users.editor, target: Target = server): Promise<Tokens> {
  const asked = await ask(application, scope);
  const consent = screen(await signIn(new PlainBrowser(target.baseUrl), asked.url, person));
  return trade(application, asked, arrival(await consent.press('Allow')));
}

const claimsOf = (token: string): Record<string, unknown> => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>;
const bearer = (tokens: Pick<Tokens, 'access_token'>, target: Target = server) => withKey(target, tokens.access_token);

/** What the token endpoint says to a refusal, or fails. */
async function refusalOf(attempt: Promise<unknown>): Promise<{ error: string; status: number }> {
  const error = await attempt.then(() => expect.fail('was not refused'), (thrown: unknown) => thrown);
  if (!(error instanceof openid.ResponseBodyError)) throw error;
  return { error: error.error, status: error.status };
}
const invalidGrant = { error: 'invalid_grant', status: 400 };

const register = (token: string | null, metadata: Record<string, unknown>, target: Target = server) => withKey(target, token).post('/oauth/register', metadata);
const Registered = z.looseObject({ client_id: z.string(), client_secret: z.string().optional(), token_endpoint_auth_method: z.string(), redirect_uris: z.array(z.string()) });

clause('OAUTH-METADATA-001', 'decisions §3: /.well-known/oauth-authorization-server names the endpoints, PKCE with S256 alone and the six scopes', async () => {
  const { status, body, headers } = await as(server, 'nobody').get('/.well-known/oauth-authorization-server');
  expect(status).toBe(200);
  expect(headers.get('x-request-id')).toBeTruthy();
  const at = (path: string): string => server.baseUrl + path;
  expect(body).toMatchObject({
    issuer: server.baseUrl,
    authorization_endpoint: at('/oauth/authorize'),
    token_endpoint: at('/oauth/token'),
    revocation_endpoint: at('/oauth/revoke'),
    registration_endpoint: at('/oauth/register'),
    jwks_uri: at('/oauth/jwks'),
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    scopes_supported: ['memory.read', 'memory.write', 'marketplace.manage', 'learn', 'learn.manage', 'growth'],
  });
  const keys = (await as(server, 'nobody').get('/oauth/jwks')).text;
  expect(keys).toContain('"x"');
  expect(keys, 'no private part').not.toContain('"d"');
});

clause('OAUTH-FLOW-001', 'decisions §3: authorization code with PKCE, sign-in and consent give a JWT of 15 minutes that works over REST and GraphQL', async () => {
  const tokens = await connect(await demoApplication(server), 'memory.read memory.write');
  expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 900, scope: 'memory.read memory.write' });
  expect(JSON.parse(Buffer.from(tokens.access_token.split('.')[0]!, 'base64url').toString())).toMatchObject({ typ: 'at+jwt' });
  expect(claimsOf(tokens.access_token)).toMatchObject({ iss: server.baseUrl, aud: server.baseUrl, sub: users.editor.id, client_id: server.credentials.oauth_client.client_id });
  const client = bearer(tokens);
  const stored = await store(client, { content: `By an application ${uniqueWord()}` });
  expect(stored.workspace_id).toBe(server.credentials.workspaces.default);
  expect((await client.get(`/v1/memory/${stored.id}`)).status).toBe(200);
  const graph = await client.post('/graphql', { query: '{ organization { id } }' });
  expect(graph.body).toMatchObject({ data: { organization: { id: server.credentials.organization_id } } });
});

clause('OAUTH-FLOW-002', 'decisions §3: the token works in the workspace chosen at the consent', async () => {
  const application = await demoApplication(server);
  const asked = await ask(application, 'memory.write');
  const consent = screen(await signIn(new PlainBrowser(server.baseUrl), asked.url, users.editor));
  const { research } = server.credentials.workspaces;
  const tokens = await trade(application, asked, arrival(await consent.press('Allow', { workspace: research })));
  expect((await store(bearer(tokens), { content: `Chosen ${uniqueWord()}` })).workspace_id).toBe(research);
});

clause('OAUTH-FLOW-003', 'decisions §3: a workspace that is not the user\'s cannot be chosen', async () => {
  const asked = await ask(await demoApplication(server), 'memory.read');
  const consent = screen(await signIn(new PlainBrowser(server.baseUrl), asked.url, users.editor));
  expect(screen(await consent.press('Allow', { workspace: 'wsp_of_somebody_else' })).html).toContain('Choose a workspace');
});

clause('OAUTH-CONSENT-001', 'decisions §3: a refused consent returns access_denied and the state, and no code', async () => {
  const asked = await ask(await demoApplication(server), 'memory.read');
  const consent = screen(await signIn(new PlainBrowser(server.baseUrl), asked.url, users.editor));
  const { searchParams } = arrival(await consent.press('Refuse'));
  expect(Object.fromEntries(searchParams)).toMatchObject({ error: 'access_denied', state: asked.state, iss: server.baseUrl });
  expect(searchParams.has('code')).toBe(false);
});

clause('OAUTH-CONSENT-002', 'decisions §3: the consent names the application, the user, every scope and the workspaces', async () => {
  const asked = await ask(await demoApplication(server), 'memory.read learn');
  const { html } = screen(await signIn(new PlainBrowser(server.baseUrl), asked.url, users.editor));
  for (const named of ['Demo Application', users.editor.email, 'memory.read', 'learn', 'default', 'research']) expect(html).toContain(named);
  expect(html).not.toContain('memory.write');
});

clause('OAUTH-CONSENT-003', 'decisions §3: every authorization is signed in for anew: nobody stays signed in at these pages', async () => {
  const application = await demoApplication(server);
  const browser = new PlainBrowser(server.baseUrl);
  arrival(await screen(await signIn(browser, (await ask(application, 'memory.read')).url, users.editor)).press('Allow'));
  expect(screen(await browser.open((await ask(application, 'memory.read')).url)).html).toContain('type="password"');
  expect(Object.fromEntries(arrival(await browser.open((await ask(application, 'memory.read', { prompt: 'none' })).url)).searchParams)).toMatchObject({ error: 'login_required' });
});

clause('OAUTH-PAGE-001', 'decisions §3: a wrong password is said on the page and tells nothing about the account', async () => {
  const { url } = await ask(await demoApplication(server), 'memory.read');
  const texts: string[] = [];
  for (const email of [users.editor.email, `${uniqueWord()}@demo.example`]) {
    const again = screen(await signIn(new PlainBrowser(server.baseUrl), url, { email, password: 'wrong password' }));
    expect(again.html).toContain('role="alert"');
    texts.push(again.html.replaceAll(email, 'EMAIL'));
  }
  expect(texts[0]).toBe(texts[1]);
});

clause('OAUTH-PAGE-002', 'decisions §3: the pages run nothing, cannot be framed or cached, and their cookies are HttpOnly and SameSite', async () => {
  const browser = new PlainBrowser(server.baseUrl);
  const { headers, html } = screen(await browser.open((await ask(await demoApplication(server), 'memory.read')).url));
  const policy = headers.get('content-security-policy')!;
  for (const rule of ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self' http://127.0.0.1:"]) expect(policy).toContain(rule);
  expect(policy).not.toContain('unsafe');
  expect(html).not.toMatch(/<script|\son\w+=|style="/i);
  expect(Object.fromEntries(['x-frame-options', 'cache-control', 'x-content-type-options', 'referrer-policy'].map((name) => [name, headers.get(name)]))).toEqual({
    'x-frame-options': 'DENY', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer',
  });
  expect(browser.cookies.length).toBeGreaterThan(0);
  for (const { attributes } of browser.cookies) expect(attributes.toLowerCase()).toMatch(/(?=.*httponly)(?=.*samesite=lax)/);
});

clause('OAUTH-PAGE-003', 'decisions §3: a form counts only with the cookie of the browser that began', async () => {
  const begun = screen(await new PlainBrowser(server.baseUrl).open((await ask(await demoApplication(server), 'memory.read')).url));
  const body = new URLSearchParams({ step: 'sign-in', answer: 'yes', email: users.editor.email, password: users.editor.password });
  const other = new PlainBrowser(server.baseUrl);
  await other.open((await ask(await demoApplication(server), 'memory.read')).url);
  for (const browser of [new PlainBrowser(server.baseUrl), other]) {
    expect(screen(await browser.open(begun.url, { method: 'POST', body })).status).toBe(400);
  }
});

clause('OAUTH-PAGE-004', 'decisions §3: what a client calls itself is shown as text', async () => {
  const name = `<script>alert("${uniqueWord()}")</script>`;
  const { client_id: clientId } = Registered.parse((await register(users.architect.session_token, { client_name: name, redirect_uris: ['https://app.example/callback'] })).body);
  const application = { config: await discovered(server, clientId), redirectUri: 'https://app.example/callback' };
  const browser = new PlainBrowser(server.baseUrl);
  const { html } = screen(await browser.open((await ask(application, 'memory.read')).url));
  expect(html).not.toContain('<script');
  expect(html).toContain('&lt;script&gt;');
});

clause('OAUTH-STATE-001', 'decisions §3: state comes back as it was sent, and a client notices another', async () => {
  const application = await demoApplication(server);
  const asked = await ask(application, 'memory.read');
  const arrivedAt = arrival(await screen(await signIn(new PlainBrowser(server.baseUrl), asked.url, users.editor)).press('Allow'));
  expect(arrivedAt.searchParams.get('state')).toBe(asked.state);
  await expect(trade(application, { ...asked, state: openid.randomState() }, arrivedAt)).rejects.toMatchObject({ cause: { message: expect.stringContaining('state') as string } });
});

clause('OAUTH-STATE-002', 'decisions §3: no text that a stranger sends makes the server fail, and a state of any characters comes back', async () => {
  const application = await demoApplication(server);
  const odd = 'a\0b ü 日本 "<&>\' \ud83d\ude00 %00';
  const asked = await ask(application, 'memory.read', { state: odd });
  const first = screen(await new PlainBrowser(server.baseUrl).open(asked.url));
  const again = screen(await first.press('Sign in', { email: `a\0b"<${users.editor.email}`, password: 'x\0' }));
  expect(again.html).toContain('role="alert"');
  expect(arrival(await again.press('Cancel')).searchParams.get('state')).toBe(odd);
  for (const clientId of ['a\0b', '', 'x'.repeat(5_000), '../..', "'; select"]) {
    const url = new URL(asked.url);
    url.searchParams.set('client_id', clientId);
    expect(screen(await new PlainBrowser(server.baseUrl).open(url)).status, clientId.slice(0, 20)).toBe(400);
    const token = await fetch(`${server.baseUrl}/oauth/token`, { method: 'POST', body: new URLSearchParams({ client_id: clientId, grant_type: 'refresh_token', refresh_token: 'a\0b' }) });
    expect(token.status, clientId.slice(0, 20)).toBeLessThan(500);
  }
  expect((await register(users.architect.session_token, { client_name: 'a\0b', redirect_uris: ['https://app.example/callback'] })).status).toBe(400);
});

clause('OAUTH-CODE-001', 'decisions §3: a code used twice is refused, and what came from it ends', async () => {
  const application = await demoApplication(server);
  const asked = await ask(application, 'memory.read');
  const arrivedAt = arrival(await screen(await signIn(new PlainBrowser(server.baseUrl), asked.url, users.editor)).press('Allow'));
  const tokens = await trade(application, asked, arrivedAt);
  expect((await bearer(tokens).get('/v1/memory')).status).toBe(200);
  expect(await refusalOf(trade(application, asked, arrivedAt))).toEqual(invalidGrant);
  await eventually(async () => expectError(await bearer(tokens).get('/v1/memory'), 401, 'unauthenticated'), 2_000);
  expect(await refusalOf(openid.refreshTokenGrant(application.config, tokens.refresh_token!))).toEqual(invalidGrant);
});

clause('OAUTH-CODE-002', 'decisions §3: of many trades of one code at once at most one succeeds, and the grant ends', async () => {
  const application = await demoApplication(server);
  const asked = await ask(application, 'memory.read');
  const arrivedAt = arrival(await screen(await signIn(new PlainBrowser(server.baseUrl), asked.url, users.editor)).press('Allow'));
  const trades = await Promise.allSettled(Array.from({ length: 8 }, () => trade(application, asked, arrivedAt)));
  const won = trades.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  expect(won.length).toBeLessThanOrEqual(1);
  for (const tokens of won) await eventually(async () => expectError(await bearer(tokens).get('/v1/memory'), 401, 'unauthenticated'), 2_000);
});

clause('OAUTH-PKCE-001', 'decisions §3: no challenge, or plain, is refused before anybody signs in', async () => {
  const application = await demoApplication(server);
  const asked = await ask(application, 'memory.read');
  const varied = (change: (url: URL) => void): URL => {
    const url = new URL(asked.url);
    change(url);
    return url;
  };
  const without = varied(({ searchParams }) => (searchParams.delete('code_challenge'), searchParams.delete('code_challenge_method')));
  const plain = varied(({ searchParams }) => searchParams.set('code_challenge_method', 'plain'));
  const byDefault = varied(({ searchParams }) => searchParams.delete('code_challenge_method'));
  for (const url of [without, plain, byDefault]) {
    expect(Object.fromEntries(arrival(await new PlainBrowser(server.baseUrl).open(url)).searchParams)).toMatchObject({ error: 'invalid_request', state: asked.state });
  }
});

clause('OAUTH-PKCE-002', 'decisions §3: a wrong or missing verifier is refused', async () => {
  const application = await demoApplication(server);
  for (const verifier of [openid.randomPKCECodeVerifier(), undefined]) {
    const asked = await ask(application, 'memory.read');
    const arrivedAt = arrival(await screen(await signIn(new PlainBrowser(server.baseUrl), asked.url, users.editor)).press('Allow'));
    const form = { grant_type: 'authorization_code', client_id: server.credentials.oauth_client.client_id, redirect_uri: application.redirectUri, code: arrivedAt.searchParams.get('code')!, ...(verifier && { code_verifier: verifier }) };
    const answer = await fetch(`${server.baseUrl}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: 'invalid_grant' });
  }
});

clause('OAUTH-REDIRECT-001', 'decisions §3: another redirect_uri than a registered one is never redirected to; of a native client\'s loopback address only the port is free', async () => {
  const application = await demoApplication(server);
  for (const redirectUri of ['https://evil.example/callback', `${application.redirectUri}/more`, `${application.redirectUri}?a=b`, 'http://127.0.0.1.evil.example/callback', 'http://localhost:8910/callback', 'https://127.0.0.1:8910/callback']) {
    const { url } = await ask({ ...application, redirectUri }, 'memory.read');
    const page = screen(await new PlainBrowser(server.baseUrl).open(url));
    expect(page.status, redirectUri).toBe(400);
    expect(page.html).toContain('redirect_uri');
  }
  const { url } = await ask({ ...application, redirectUri: 'http://127.0.0.1:49152/callback' }, 'memory.read');
  expect(screen(await new PlainBrowser(server.baseUrl).open(url)).html).toContain('Sign in');
});

clause('OAUTH-REDIRECT-002', 'decisions §3: the code is bound to its redirect_uri', async () => {
  const application = await demoApplication(server);
  const asked = await ask(application, 'memory.read');
  const arrivedAt = arrival(await screen(await signIn(new PlainBrowser(server.baseUrl), asked.url, users.editor)).press('Allow'));
  const form = { grant_type: 'authorization_code', client_id: server.credentials.oauth_client.client_id, redirect_uri: 'http://127.0.0.1:49152/callback', code: arrivedAt.searchParams.get('code')!, code_verifier: asked.verifier };
  const answer = await fetch(`${server.baseUrl}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
  expect(await answer.json()).toMatchObject({ error: 'invalid_grant' });
});

clause('OAUTH-REFRESH-001', 'decisions §3: a refresh token is good for one new pair', async () => {
  const { config } = await demoApplication(server);
  const first = await connect(await demoApplication(server), 'memory.read memory.write');
  const second = await openid.refreshTokenGrant(config, first.refresh_token!);
  expect(second.refresh_token).not.toBe(first.refresh_token);
  expect((await bearer(second).get('/v1/memory')).status).toBe(200);
  const narrower = await openid.refreshTokenGrant(config, second.refresh_token!, { scope: 'memory.read' });
  expectError(await bearer(narrower).post('/v1/memory/store', { content: 'never' }), 403, 'permission_denied');
});

clause('OAUTH-REFRESH-002', 'decisions §3: a refresh token used again revokes the family, the newest tokens included', async () => {
  const { config } = await demoApplication(server);
  const stolen = await connect(await demoApplication(server), 'memory.read');
  const next = await openid.refreshTokenGrant(config, stolen.refresh_token!);
  expect(await refusalOf(openid.refreshTokenGrant(config, stolen.refresh_token!))).toEqual(invalidGrant);
  expect(await refusalOf(openid.refreshTokenGrant(config, next.refresh_token!))).toEqual(invalidGrant);
  await eventually(async () => expectError(await bearer(next).get('/v1/memory'), 401, 'unauthenticated'), 2_000);
});

clause('OAUTH-REFRESH-003', 'decisions §3: two refreshes with one token at the same moment: at most one succeeds, and the family ends', async () => {
  const { config } = await demoApplication(server);
  const { refresh_token: token } = await connect(await demoApplication(server), 'memory.read');
  const both = await Promise.allSettled(Array.from({ length: 8 }, () => openid.refreshTokenGrant(config, token!)));
  const won = both.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  expect(won.length).toBeLessThanOrEqual(1);
  for (const tokens of won) expect(await refusalOf(openid.refreshTokenGrant(config, tokens.refresh_token!))).toEqual(invalidGrant);
});

clause('OAUTH-REVOKE-001', 'decisions §3: /oauth/revoke of either token ends the grant: the access token is 401 at once', async () => {
  const { config } = await demoApplication(server);
  for (const which of ['access_token', 'refresh_token'] as const) {
    const tokens = await connect(await demoApplication(server), 'memory.read');
    expect((await bearer(tokens).get('/v1/memory')).status).toBe(200);
    await openid.tokenRevocation(config, tokens[which]!);
    await eventually(async () => expectError(await bearer(tokens).get('/v1/memory'), 401, 'unauthenticated'), 1_000);
    expect(await refusalOf(openid.refreshTokenGrant(config, tokens.refresh_token!))).toEqual(invalidGrant);
  }
});

clause('OAUTH-REVOKE-002', 'decisions §3: revoking what is unknown, or another client\'s, is no fault and has no effect', async () => {
  const tokens = await connect(await demoApplication(server), 'memory.read');
  const { client_id: clientId } = Registered.parse((await register(users.architect.session_token, { client_name: 'Other', redirect_uris: ['https://app.example/callback'] })).body);
  const other = await discovered(server, clientId);
  for (const token of ['unknown', tokens.access_token, tokens.refresh_token!, `${tokens.access_token.slice(0, -4)}AAAA`]) await openid.tokenRevocation(other, token);
  expect((await bearer(tokens).get('/v1/memory')).status).toBe(200);
});

clause('OAUTH-SCOPE-001', 'decisions §3: scopes narrow what the user may: memory.read does not write, and without a memory scope nothing is read', async () => {
  const { id } = await store(as(server, 'read_write'), { content: `Scoped ${uniqueWord()}` });
  const reading = bearer(await connect(await demoApplication(server), 'memory.read'));
  expect((await reading.get(`/v1/memory/${id}`)).status).toBe(200);
  expectError(await reading.post('/v1/memory/store', { content: 'never' }), 403, 'permission_denied');
  expectError(await reading.delete(`/v1/memory/${id}`), 403, 'permission_denied');
  const learning = bearer(await connect(await demoApplication(server), 'learn'));
  for (const path of ['/v1/memory', `/v1/memory/${id}`, '/v1/memory/retrieve?q=x', '/v1/memory/stats']) expectError(await learning.get(path), 403, 'permission_denied');
});

clause('OAUTH-SCOPE-002', 'decisions §3: a scope gives no more than the user\'s role: a viewer\'s token does not write', async () => {
  const viewing = bearer(await connect(await demoApplication(server), 'memory.read memory.write', users.viewer));
  expect((await viewing.get('/v1/memory')).status).toBe(200);
  expectError(await viewing.post('/v1/memory/store', { content: 'never' }), 403, 'permission_denied');
});

clause('OAUTH-SCOPE-003', 'decisions §3: keys, exports and registrations are out of reach for every scope', async () => {
  const client = bearer(await connect(await demoApplication(server), 'memory.read memory.write learn marketplace.manage learn.manage'));
  expectError(await client.get('/v1/api-keys'), 403, 'permission_denied');
  expectError(await client.post('/v1/api-keys', { name: 'never', level: 'read-only' }), 403, 'permission_denied');
  expectError(await client.post('/api/exports/full'), 403, 'permission_denied');
  expect((await client.post('/oauth/register', { redirect_uris: ['https://app.example/callback'] })).status).toBe(403);
});

clause('OAUTH-SCOPE-004', 'decisions §3: a request without a known scope is refused at once', async () => {
  const application = await demoApplication(server);
  for (const scope of ['', 'openid', 'memory.everything']) {
    const { url } = await ask(application, scope);
    expect(Object.fromEntries(arrival(await new PlainBrowser(server.baseUrl).open(url)).searchParams), scope).toMatchObject({ error: 'invalid_scope' });
  }
});

clause('OAUTH-SCOPE-005', 'decisions §3: growth needs an authenticator: a user without one cannot allow it', async () => {
  const application = await demoApplication(server);
  const alone = await ask(application, 'growth');
  expect(arrival(await signIn(new PlainBrowser(server.baseUrl), alone.url, users.editor)).searchParams.get('error')).toBe('access_denied');
  expect((await connect(application, 'memory.read growth')).scope).toBe('memory.read');
});

clause('OAUTH-TENANT-001', 'decisions §3: a client belongs to its organization: the user of another is refused with access_denied', async () => {
  const asked = await ask(await demoApplication(server), 'memory.read');
  const { searchParams } = arrival(await signIn(new PlainBrowser(server.baseUrl), asked.url, server.credentials.other_tenant.users.learner));
  expect(Object.fromEntries(searchParams)).toMatchObject({ error: 'access_denied', state: asked.state });
});

clause('OAUTH-REGISTER-001', 'decisions §3: an Architect registers a public client with a session token, and it works', async () => {
  const config = await openid.dynamicClientRegistration(
    new URL(server.baseUrl),
    { client_name: 'Registered', redirect_uris: ['https://app.example/callback'], token_endpoint_auth_method: 'none' },
    openid.None(),
    { initialAccessToken: users.architect.session_token, ...overPlainHttp },
  );
  expect(config.clientMetadata()).toMatchObject({ token_endpoint_auth_method: 'none', grant_types: ['authorization_code', 'refresh_token'] });
  expect(config.clientMetadata()).not.toHaveProperty('client_secret');
  const tokens = await connect({ config, redirectUri: 'https://app.example/callback' }, 'memory.read');
  expect((await bearer(tokens).get('/v1/memory')).status).toBe(200);
});

clause('OAUTH-REGISTER-002', 'decisions §3: without saying so a client is public; a confidential one gets a secret, which the token endpoint demands', async () => {
  const redirectUri = 'https://app.example/callback';
  const byDefault = Registered.parse((await register(users.sovereign.session_token, { redirect_uris: [redirectUri] })).body);
  expect(byDefault).toMatchObject({ token_endpoint_auth_method: 'none' });
  expect(Object.keys(byDefault).filter((name) => name.includes('secret'))).toEqual([]);
  for (const [method, auth] of [['client_secret_basic', openid.ClientSecretBasic], ['client_secret_post', openid.ClientSecretPost]] as const) {
    const { client_id: clientId, client_secret: secret } = Registered.parse((await register(users.architect.session_token, { redirect_uris: [redirectUri], token_endpoint_auth_method: method })).body);
    const config = await discovered(server, clientId, auth(secret));
    const tokens = await connect({ config, redirectUri }, 'memory.read');
    expect((await bearer(tokens).get('/v1/memory')).status).toBe(200);
    for (const wrong of [auth(`${secret}x`), openid.None()]) {
      const impostor = await discovered(server, clientId, wrong);
      await expect(openid.refreshTokenGrant(impostor, tokens.refresh_token!)).rejects.toMatchObject({ status: 401 });
    }
  }
});

clause('OAUTH-REGISTER-003', 'decisions §3: anything but an Architect\'s or a Sovereign\'s session is refused in OAuth\'s form', async () => {
  const metadata = { redirect_uris: ['https://app.example/callback'] };
  for (const token of [null, `qs_${'A'.repeat(43)}`, 'nonsense']) {
    const answer = await register(token, metadata);
    expect(answer.status).toBe(401);
    expect(answer.body).toMatchObject({ error: 'invalid_token', error_description: expect.any(String) as string });
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
  }
  for (const token of [users.editor.session_token, users.admin.session_token, server.credentials.api_keys.admin]) {
    const answer = await register(token, metadata);
    expect(answer.status).toBe(403);
    expect(answer.body).toMatchObject({ error: 'insufficient_scope', error_description: expect.any(String) as string });
  }
});

clause('OAUTH-REGISTER-004', 'decisions §3: redirect URIs are https, a loopback address, or a scheme that names a domain; nothing else', async () => {
  const architect = users.architect.session_token;
  const refused = [
    { redirect_uris: ['http://app.example/callback'] },
    { redirect_uris: ['https://app.example/callback#fragment'] },
    { redirect_uris: ['javascript:alert(1)'], application_type: 'native' },
    { redirect_uris: ['myapp:/callback'], application_type: 'native' },
    { redirect_uris: ['com.example.app:/callback'] },
    { redirect_uris: [] },
    { redirect_uris: 'https://app.example/callback' },
    {},
  ];
  for (const metadata of refused) {
    const answer = await register(architect, metadata);
    expect(answer.status, JSON.stringify(metadata)).toBe(400);
    expect(answer.body).toMatchObject({ error: expect.stringMatching(/^invalid_(redirect_uri|client_metadata)$/) as string });
  }
  for (const metadata of [{ redirect_uris: ['com.example.app:/callback'], application_type: 'native' }, { redirect_uris: ['http://localhost:3000/callback'] }]) {
    expect((await register(architect, metadata)).status, JSON.stringify(metadata)).toBe(201);
  }
});

clause('OAUTH-REGISTER-005', 'decisions §3: a client says of itself neither whose it is nor what its id is, and sends the server nowhere', async () => {
  const made = await register(users.architect.session_token, { client_id: 'mine', organization_id: server.credentials.other_tenant.organization_id, redirect_uris: ['https://app.example/callback'] });
  expect(made.body).toMatchObject({ client_id: expect.stringMatching(/^ocl_/) as string, organization_id: server.credentials.organization_id });
  const fetching = await register(users.architect.session_token, { redirect_uris: ['https://app.example/callback'], sector_identifier_uri: `${server.baseUrl.replace('http:', 'https:')}/x` });
  expect(fetching.status).toBe(400);
});

clause('OAUTH-TOKEN-001', 'decisions §3: a token that is altered, unsigned or signed by another is no credential', async () => {
  const { access_token: token } = await connect(await demoApplication(server), 'memory.read');
  const [head = '', body = '', signature = ''] = token.split('.');
  const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = claimsOf(token);
  const header = JSON.parse(Buffer.from(head, 'base64url').toString()) as object;
  const { privateKey } = generateKeyPairSync('ed25519');
  const jwks = (await as(server, 'nobody').get('/oauth/jwks')).body as { keys: { x: string }[] };
  const raised = encoded({ ...claims, scope: 'memory.read memory.write' });
  const confused = `${encoded({ ...header, alg: 'HS256' })}.${body}`;
  const forged = {
    'other claims': `${head}.${raised}.${signature}`,
    'alg none': `${encoded({ ...header, alg: 'none' })}.${body}.`,
    'alg none with a signature': `${encoded({ ...header, alg: 'none' })}.${body}.${signature}`,
    'no signature': `${head}.${body}.`,
    'a flipped bit': `${head}.${body}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
    'another key': `${head}.${raised}.${sign(null, Buffer.from(`${head}.${raised}`), privateKey).toString('base64url')}`,
    'the public key as a secret': `${confused}.${createHmac('sha256', Buffer.from(jwks.keys[0]!.x, 'base64url')).update(confused).digest('base64url')}`,
  };
  for (const [name, forgery] of Object.entries(forged)) {
    const answer = await withKey(server, forgery).get('/v1/memory');
    expect(answer.status, name).toBe(401);
    expectError(answer, 401, 'unauthenticated');
  }
  expect((await withKey(server, token).get('/v1/memory')).status).toBe(200);
});

clause('OAUTH-CORS-001', 'decisions §3: the token endpoint answers a page of the client\'s own origin, and no other', async () => {
  const { client_id: clientId } = Registered.parse((await register(users.architect.session_token, { redirect_uris: ['https://app.example/callback'] })).body);
  const allowedFor = async (origin: string): Promise<string | null> => {
    const answer = await fetch(`${server.baseUrl}/oauth/token`, { method: 'POST', headers: { origin }, body: new URLSearchParams({ client_id: clientId, grant_type: 'refresh_token', refresh_token: 'unknown' }) });
    await answer.body?.cancel();
    return answer.headers.get('access-control-allow-origin');
  };
  expect(await allowedFor('https://app.example')).toBe('https://app.example');
  expect(await allowedFor('https://evil.example')).toBeNull();
});

clause('OAUTH-AUDIT-001', 'decisions §3: what happens to a client, its grants and tokens is in the audit log, with who, from where and what came of it', async () => {
  const architect = withKey(server, users.architect.session_token);
  const redirectUri = 'https://app.example/callback';
  const { client_id: clientId } = Registered.parse((await register(users.architect.session_token, { redirect_uris: [redirectUri] })).body);
  const application = { config: await discovered(server, clientId), redirectUri };
  const refused = await ask(application, 'memory.read');
  arrival(await screen(await signIn(new PlainBrowser(server.baseUrl), refused.url, users.viewer)).press('Refuse'));
  const revoked = await connect(application, 'memory.read', users.viewer);
  await openid.tokenRevocation(application.config, revoked.access_token);
  const stolen = await connect(application, 'memory.read', users.viewer);
  await openid.refreshTokenGrant(application.config, stolen.refresh_token!);
  await refusalOf(openid.refreshTokenGrant(application.config, stolen.refresh_token!));

  const { body, text } = await architect.get(`/v1/audit-log?subject_id=${clientId}&limit=100`);
  const Entry = z.looseObject({ operation: z.string(), outcome: z.string(), user_id: z.string(), address: z.string(), request_id: z.string() });
  const entries = z.looseObject({ data: z.array(Entry) }).parse(body).data.toReversed();
  expect(entries.map(({ operation, outcome }) => `${operation} ${outcome}`)).toEqual([
    'registerOauthClient succeeded',
    'signIn succeeded', 'refuseOauthClient succeeded',
    'signIn succeeded', 'allowOauthClient succeeded', 'revokeOauthGrant succeeded',
    'signIn succeeded', 'allowOauthClient succeeded', 'reuseOauthToken permission_denied',
  ]);
  expect(entries.map(({ user_id: userId }) => userId)).toEqual([users.architect.id, ...Array.from({ length: 8 }, () => users.viewer.id)]);
  for (const token of [revoked.access_token, revoked.refresh_token!, stolen.refresh_token!]) expect(text).not.toContain(token);
});
