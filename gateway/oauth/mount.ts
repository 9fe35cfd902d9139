import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Provider } from 'oidc-provider';
import type { Logger } from 'pino';
import { auditEntry, recordAudit } from '#platform/audit/record-audit.ts';
import type { Config } from '#platform/config.ts';
import type { Context, RequestContext } from '#platform/context.ts';
import { DomainError } from '#platform/errors.ts';
import { isArchitect } from '#platform/principal.ts';
import type { Pipeline } from '../pipeline.ts';
import { hostGuard } from '../rest/mount.ts';
import { inCall } from './current-call.ts';
import { interact } from './interaction.ts';
import { createProvider } from './provider.ts';
import type { SigningKey } from './signing-key.ts';

interface OauthOptions {
  readonly config: Config;
  /** Known once the server listens. */
  readonly issuer: () => string;
  readonly key: SigningKey;
  readonly onRevoked: () => void;
  readonly pipeline: Pipeline;
  readonly contextOf: (request: RequestContext) => Context;
}

/** Who may call: everybody, or who may register clients. */
type Caller = 'anybody' | 'architect';

const formBytesMax = 65_536;

/** The paths that oidc-provider answers, and the pages between. */
export function mountOauth(http: FastifyInstance, { config, issuer, key, onRevoked, pipeline, contextOf }: OauthOptions): void {
  let opened: { provider: Provider; answer: ReturnType<Provider['callback']> } | undefined;
  const open = () => {
    if (opened === undefined) {
      const provider = createProvider({ issuer: issuer(), config, logger: http.log as Logger, key, onRevoked });
      opened = { provider, answer: provider.callback() };
    }
    return opened;
  };
  const refuseForeignHost = hostGuard(config);

  const contextFor = async (request: FastifyRequest, caller: Caller): Promise<Context> => {
    refuseForeignHost('base', request);
    return contextOf(caller === 'anybody' ? anonymous(request) : await pipeline.admit(request));
  };

  http.route({
    method: ['GET', 'POST'],
    url: '/oauth/interaction/:uid',
    bodyLimit: formBytesMax,
    handler: async (request, reply) => inCall(await contextFor(request, 'anybody'), () => interact(open().provider, request, reply)),
  });

  void http.register(async (scope) => {
    // oidc-provider reads the body itself.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _body, done) => done(null));
    const handOver = (caller: Caller) => async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      const ctx = await contextFor(request, caller).catch((error: unknown) => refused(error, reply));
      if (ctx === undefined) return;
      if (caller === 'architect' && !mayRegister(ctx)) {
        await recordAudit(ctx.em, [auditEntry(ctx, { operation: 'registerOauthClient', subjectIds: [], outcome: 'permission_denied' })], ctx.clock.now());
        await reply.code(403).send({ error: 'insufficient_scope', error_description: 'registering a client needs the session token of an Architect or a Sovereign' });
        return;
      }
      reply.hijack();
      await inCall(ctx, () => open().answer(asReached(request, issuer()), withHeaders(reply)));
    };
    scope.get('/oauth/authorize', handOver('anybody'));
    scope.get('/oauth/authorize/:uid', handOver('anybody'));
    scope.post('/oauth/register', handOver('architect'));
    for (const url of ['/oauth/token', '/oauth/revoke']) scope.route({ method: ['POST', 'OPTIONS'], url, handler: handOver('anybody') });
    for (const url of ['/oauth/jwks', '/.well-known/oauth-authorization-server']) scope.route({ method: ['GET', 'OPTIONS'], url, handler: handOver('anybody') });
  });
}

const mayRegister = ({ principal }: Context): boolean => principal?.kind === 'session' && isArchitect(principal);

/** What comes in Authorization here is an OAuth client's secret, not a credential of ours. */
const anonymous = (request: FastifyRequest): RequestContext => ({
  principal: null,
  requestId: request.id,
  idempotency: null,
  client: { address: request.ip, userAgent: request.headers['user-agent']?.slice(0, 300) ?? null },
  answer: { replayed: false },
});

/** A missing or unknown credential in the words of RFC 6750; everything else goes its way. */
async function refused(error: unknown, reply: FastifyReply): Promise<undefined> {
  if (!(error instanceof DomainError) || error.status !== 401) throw error;
  await reply.code(401).header('www-authenticate', 'Bearer error="invalid_token"').send({ error: 'invalid_token', error_description: error.message });
}

/** oidc-provider makes its addresses and cookies of these; who could have written them is settled here, not there. */
function asReached({ raw }: FastifyRequest, issuer: string): FastifyRequest['raw'] {
  const { protocol, host } = new URL(issuer);
  Object.assign(raw.headers, { 'x-forwarded-proto': protocol.slice(0, -1), 'x-forwarded-host': host });
  return raw;
}

/** What Fastify has set so far (the request id, rate limits) goes out with an answer that it does not send itself. */
function withHeaders(reply: FastifyReply): FastifyReply['raw'] {
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) reply.raw.setHeader(name, value);
  return reply.raw;
}
