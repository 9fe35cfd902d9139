import * as openid from 'openid-client';
import { screen } from './plain-browser.ts';
import type { Arrival, PlainBrowser, Screen } from './plain-browser.ts';
import type { Target } from './server.ts';

/** An application as a stranger would write it: openid-client knows nothing of this server but its address. */
export interface Application {
  readonly config: openid.Configuration;
  readonly redirectUri: string;
}

export interface Asked {
  readonly url: URL;
  readonly verifier: string;
  readonly state: string;
}

export type Tokens = Awaited<ReturnType<typeof openid.authorizationCodeGrant>>;

export interface Person {
  readonly email: string;
  readonly password: string;
}

export const overPlainHttp = { algorithm: 'oauth2' as const, execute: [openid.allowInsecureRequests] };

/** A registered client that finds everything else out by itself. */
export const discovered = ({ baseUrl }: Pick<Target, 'baseUrl'>, clientId: string, authentication = openid.None()): Promise<openid.Configuration> =>
  openid.discovery(new URL(baseUrl), clientId, undefined, authentication, overPlainHttp);

/** The demo application of credentials.json. */
export async function demoApplication(server: Target): Promise<Application> {
  const { client_id: clientId, redirect_uri: redirectUri } = server.credentials.oauth_client;
  return { config: await discovered(server, clientId), redirectUri };
}

/** The address that the application sends its user to. */
export async function ask({ config, redirectUri }: Application, scope: string, varied: Readonly<Record<string, string>> = {}): Promise<Asked> {
  const verifier = openid.randomPKCECodeVerifier();
  const state = openid.randomState();
  const url = openid.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    ...varied,
  });
  return { url, verifier, state };
}

export async function signIn(browser: PlainBrowser, url: URL, { email, password }: Person): Promise<Screen | Arrival> {
  return screen(await browser.open(url)).press('Sign in', { email, password });
}

/** Trades what the redirect brought for tokens, checking state, issuer and the answer's form. */
export const trade = ({ config }: Application, { verifier, state }: Asked, arrivedAt: URL): Promise<Tokens> =>
  openid.authorizationCodeGrant(config, arrivedAt, { pkceCodeVerifier: verifier, expectedState: state });
