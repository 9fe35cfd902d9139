import { timingSafeEqual } from 'node:crypto';
import { errors, interactionPolicy, Provider } from 'oidc-provider';
import type { Client, ClientMetadata, Configuration, JWK, KoaContextWithOIDC } from 'oidc-provider';
import type { Logger } from 'pino';
import type { Config } from '#platform/config.ts';
import { query } from '#platform/database/query.ts';
import { transaction } from '#platform/database/transaction.ts';
import { newId } from '#platform/ids.ts';
import { scopes } from '#platform/principal.ts';
import { claimsOf } from '../identity/credentials/access-token.ts';
import type { AccessTokens } from '../identity/credentials/access-token.ts';
import { currentCall } from './current-call.ts';
import { revokeGrant } from './grants.ts';
import type { Allowed } from './grants.ts';
import { errorPage } from './pages.ts';
import { digestOf, recordsOf } from './records.ts';
import type { SigningKey } from './signing-key.ts';

/** How long a person may take from the first page to the last. */
const INTERACTION_SECONDS = 900;
const authMethods = ['none', 'client_secret_basic', 'client_secret_post'] as const;
const CODE_SECONDS = 60;
/** A grant's end is kept beside it and moves with its tokens (records.ts). */
const GRANT_SECONDS = 10 * 366 * 86_400;

interface ProviderOptions {
  readonly issuer: string;
  readonly config: Config;
  readonly logger: Logger;
  readonly key: SigningKey;
  /** Called before the answer is sent: this process is not to wait for the notification. */
  readonly onRevoked: () => void;
}

/** OAuth 2.0 by a certified library: authorization code with PKCE, rotating refresh tokens, registration, revocation. */
export function createProvider({ issuer, config, logger, key, onRevoked }: ProviderOptions): Provider {
  const provider = new Provider(issuer, {
    adapter: recordsOf,
    jwks: { keys: [key.jwk as JWK] },
    routes: { authorization: '/oauth/authorize', token: '/oauth/token', revocation: '/oauth/revoke', registration: '/oauth/register', jwks: '/oauth/jwks' },
    scopes,
    responseTypes: ['code'],
    pkce: { required: () => true },
    clientAuthMethods: authMethods,
    clientDefaults: { token_endpoint_auth_method: 'none', grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], id_token_signed_response_alg: 'EdDSA' },
    allowOmittingSingleRegisteredRedirectUri: false,
    clockTolerance: 0,
    extraClientMetadata: { properties: ['organization_id'], validator: checkClient },
    extraParams: { scope: refuseNoScope },
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
      registration: { enabled: true, idFactory: () => newId('oauthClient'), issueRegistrationAccessToken: false },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => issuer,
        getResourceServerInfo: (_ctx, resource) => {
          if (resource !== issuer) throw new errors.InvalidTarget();
          return { scope: scopes.join(' '), audience: issuer, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'EdDSA' } } };
        },
      },
    },
    extraTokenClaims: (ctx, token) => {
      const { workspaceId, steppedUpUntilMs } = ctx.oidc.grant!.rar![0] as Allowed;
      return { grant_id: (token as { grantId?: string }).grantId, workspace_id: workspaceId, ...(steppedUpUntilMs !== null && { stepped_up_until: steppedUpUntilMs / 1000 }) };
    },
    expiresWithSession: () => false,
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    revokeGrantPolicy: () => true,
    ttl: {
      AccessToken: Math.ceil(config.oauthAccessTtlSeconds),
      AuthorizationCode: CODE_SECONDS,
      Grant: GRANT_SECONDS,
      Interaction: INTERACTION_SECONDS,
      RefreshToken: Math.ceil(config.oauthRefreshTtlSeconds),
      Session: INTERACTION_SECONDS,
    },
    interactions: { url: (_ctx, interaction) => `/oauth/interaction/${interaction.uid}`, policy: everyTime() },
    findAccount: async (_ctx, id) => {
      const [user] = await query(currentCall().em, 'select id from identity.user where id = $1', [id]);
      return user ? { accountId: id, claims: () => ({ sub: id }) } : undefined;
    },
    clientBasedCORS: (_ctx, origin, client) => client.redirectUris?.some((uri) => URL.parse(uri)?.origin === origin) ?? false,
    renderError: (ctx, out) => {
      const message = out.error === 'server_error' ? `Something went wrong on our side; ${currentCall().requestId} helps to find it.` : (out.error_description ?? out.error);
      const { html, headers } = errorPage(message);
      ctx.set(headers);
      ctx.body = html;
    },
    // A client's description may name addresses to look things up at; nobody sends this server anywhere.
    fetch: () => Promise.reject(new Error('the authorization server fetches nothing')),
  } satisfies Configuration);

  // The listener has settled (TRUST_PROXY) how it was reached, and says so in these headers.
  provider.proxy = true;
  provider.Client.prototype.compareClientSecret = function compare(this: Client, given: string) {
    return timingSafeEqual(Buffer.from(digestOf(given)), Buffer.from(this.clientSecret!));
  };
  provider.use(async (ctx, next) => {
    await next();
    if (ctx.path === '/.well-known/oauth-authorization-server' && ctx.method === 'GET') ctx.body = withoutOpenId(ctx.body as object);
    if ((ctx.body as { error?: string } | undefined)?.error === 'unsupported_token_type') await revokeAccessToken(ctx as unknown as KoaContextWithOIDC, { issuer: () => issuer, publicKey: key.publicKey });
  });
  provider.on('grant.revoked', onRevoked);
  provider.on('server_error', ({ res }, error) => logger.error({ err: error, requestId: res.getHeader('x-request-id') }, 'an OAuth request failed'));
  // Koa prints what nobody listens to: clients that went away in the middle.
  provider.onerror = (error) => logger.debug({ err: error }, 'an OAuth request broke off');
  return provider;
}

/** The organization whose user asks for the client to be registered; what the client says of itself does not count. */
function checkClient(ctx: { oidc: { route: string } } | undefined, _name: string, _value: unknown, metadata: ClientMetadata): void {
  if (ctx?.oidc.route !== 'registration') return;
  // What is no text to PostgreSQL: exports read into a client's description.
  if (/\\u0000|\\ud[89a-f]/i.test(JSON.stringify(metadata))) throw new errors.InvalidClientMetadata('the metadata must be text without NUL');
  metadata['organization_id'] = currentCall().principal!.organizationId;
  // One is made before the default, `none`, is known.
  if (metadata.token_endpoint_auth_method === 'none') {
    delete metadata.client_secret;
    delete metadata.client_secret_expires_at;
  }
  for (const address of Array.isArray(metadata.redirect_uris) ? metadata.redirect_uris : []) {
    const { protocol, hostname } = URL.parse(address) ?? {};
    if (protocol === 'http:' && !['127.0.0.1', '[::1]', 'localhost'].includes(hostname!)) {
      throw new errors.InvalidClientMetadata('redirect_uris must use https, except for loopback addresses');
    }
    // RFC 8252, 7.1: a scheme of one's own is a domain of one's own, backwards.
    if (protocol !== undefined && !['http:', 'https:'].includes(protocol) && !protocol.includes('.')) {
      throw new errors.InvalidClientMetadata('redirect_uris with a private-use scheme must name a domain, like com.example.app:/callback');
    }
  }
}

/** Said at once, before anybody signs in for nothing. Unknown scopes beside a known one are ignored, as RFC 6749 3.3 allows. */
function refuseNoScope(_ctx: unknown, asked: string | undefined): void {
  if (!asked?.split(' ').some((scope) => (scopes as readonly string[]).includes(scope))) {
    throw new errors.InvalidScope(`scope must name at least one of ${scopes.join(', ')}`, asked ?? '');
  }
}

/** Sign-in and consent belong to every authorization; one interaction does both, and says so in its result. */
function everyTime() {
  const { Prompt, Check } = interactionPolicy;
  const signIn = new Check('every_time', 'the user signs in for every authorization', 'login_required', (ctx) => ctx.oidc.result?.consent === undefined);
  return [new Prompt({ name: 'login', requestable: true }, signIn), new Prompt({ name: 'consent', requestable: true })];
}

/** oidc-provider revokes what it keeps, and has authenticated the client; of access tokens it keeps none. An unknown one is no fault (RFC 7009, 2.2). */
async function revokeAccessToken(ctx: KoaContextWithOIDC, tokens: AccessTokens): Promise<void> {
  const { em, clock } = currentCall();
  const claims = await claimsOf(String(ctx.oidc.params!['token']), tokens, clock.now());
  if (claims?.client_id === ctx.oidc.client!.clientId) {
    await transaction(em, (own) => revokeGrant(own, claims.grant_id, 'revokeOauthGrant'));
    ctx.oidc.provider.emit('grant.revoked', ctx, claims.grant_id);
  }
  ctx.status = 200;
  ctx.body = '';
}

/** RFC 8414 without what oidc-provider adds for OpenID Connect, which is not offered. */
function withoutOpenId(metadata: object): object {
  const kept = Object.entries(metadata).filter(([name]) => !/^(claim|subject_type|id_token|request_)/.test(name));
  return { ...Object.fromEntries(kept), scopes_supported: scopes, revocation_endpoint_auth_methods_supported: authMethods };
}
