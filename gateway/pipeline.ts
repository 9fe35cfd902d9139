import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RequestContext } from '#platform/context.ts';
import { DomainError, validationError } from '#platform/errors.ts';
import { fingerprint } from '#platform/idempotency.ts';
import type { IdempotencyKey } from '#platform/idempotency.ts';
import type { Principal } from '#platform/principal.ts';
import type { Authenticator } from './identity/authenticate.ts';
import type { Ask, Kind, Limiter, Verdict } from './rate-limits/limiter.ts';
import { endpoints } from './rate-limits/policy.ts';
import type { RequestQuota } from './rate-limits/request-quota.ts';

/** How a path is entered; a route says so in its `config`. Paths that say nothing, and those that do not exist, are `anonymous`. */
export type Entrance = 'exempt' | 'anonymous' | 'public' | 'credential' | 'graph';

declare module 'fastify' {
  interface FastifyContextConfig {
    entrance?: Entrance;
  }
  interface FastifyRequest {
    /** Undefined until the pipeline has asked. */
    principal: Principal | null | undefined;
    /** How its limits stand, if an endpoint's rule is among them. */
    verdict: Verdict | null;
  }
}

export interface PipelineOptions {
  readonly authenticator: Authenticator;
  /** Null: RATE_LIMIT_PROFILE=off. */
  readonly limiter: Limiter | null;
  /** Null: no quota of requests. */
  readonly quota: RequestQuota | null;
  /** Whether the organization's receipt of this key is kept: then the request is answered from it. */
  readonly isRepeat: (organizationId: string, key: string) => Promise<boolean>;
}

/** An operation of the graph, as limits count it. */
export interface GraphOperation {
  readonly kind: Kind;
  /** A mutation counts one write for each of its fields. */
  readonly fields: readonly string[];
}

export type Pipeline = ReturnType<typeof createPipeline>;

/**
 * What happens to a request before any of its work is accepted, the same for every entrance:
 *
 *                     exempt   anonymous   REST public         REST credential   GraphQL             WebSocket
 *   authenticate      no       no          if given            required          if given            at connection_init
 *   rate limit        no       address     token or address    token             by its operation    address, then by operation
 *   quota             no       no          if authenticated    yes               if authenticated    by operation
 *   (body is read)
 *   idempotency key                        writes              writes            mutations           no
 *
 * `token` stands for the layers token, organization and endpoint. A credential that is not valid counts for the address; where
 * there were too many of them, none is looked up any more. Exempt: /healthz, /readyz, /version, /metrics. Anonymous: /docs,
 * /openapi.json, OAuth, downloads (their address is the credential), and what is not found.
 */
export function createPipeline({ authenticator, limiter, quota, isRepeat }: PipelineOptions) {
  /** Tells what came of it in the answer's headers, or refuses. */
  const settle = (verdict: Verdict, reply: FastifyReply): void => {
    reply.headers(verdict.headers);
    if (verdict.refusal !== null) throw verdict.refusal;
  };

  const take = async (limits: Limiter, ask: Ask, request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    let verdict = await limits.take(ask);
    const key = request.headers['idempotency-key'];
    // The repeat of what an endpoint's rule allowed is answered from its receipt, so the rule is not asked again.
    if (verdict.refusal?.fields['scope'] === 'endpoint' && typeof key === 'string' && (await isRepeat(ask.principal!.organizationId, key))) verdict = await limits.take({ ...ask, endpoints: [] });
    settle(verdict, reply);
    if (verdict.standings.some(({ layer }) => layer.scope === 'endpoint')) request.verdict = verdict;
  };

  const count = async (request: FastifyRequest, reply: FastifyReply, asked: Pick<Ask, 'kind' | 'cost' | 'endpoints'>): Promise<void> => {
    const principal = request.principal ?? null;
    if (limiter !== null) await take(limiter, { principal, address: request.ip, ...asked }, request, reply);
    if (quota !== null && principal !== null) await quota.take(principal.organizationId);
  };

  const identify = async (limiter: Limiter, request: FastifyRequest, reply: FastifyReply): Promise<Principal | null> => {
    const shut = limiter.shutOut(request.ip);
    if (shut !== null && !authenticator.knows(request.headers)) settle(shut, reply);
    try {
      return await authenticator.authenticate(request.headers);
    } catch (error) {
      if (error instanceof DomainError && error.code === 'unauthenticated') settle(await limiter.takeRefused(request.ip), reply);
      throw error;
    }
  };

  const enter = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { url, config } = request.routeOptions;
    const { entrance = 'anonymous' } = config;
    if (entrance === 'exempt') return;
    if (entrance !== 'anonymous') request.principal = await (limiter === null ? authenticator.authenticate(request.headers) : identify(limiter, request, reply));
    if (entrance === 'graph') return;
    await count(request, reply, { kind: kindOf(request.method), cost: 1, endpoints: request.principal == null ? none : (endpointsByUrl.get(url!) ?? none) });
    if (entrance === 'credential' && request.principal === null) throw missingCredential();
  };

  /** An export that was refused, or answered from its receipt, is not the one that the hour allows. */
  const giveBackUnused = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { verdict } = request;
    request.verdict = null;
    if (verdict !== null) reply.headers((await limiter!.giveBackEndpoints(verdict)).headers);
  };

  const giveBackIfUnused = async (request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> => {
    if (reply.statusCode >= 300 || reply.hasHeader('idempotent-replayed')) await giveBackUnused(request, reply);
    return payload;
  };

  return {
    /** Every request passes here before its body is read; mount it before any route. */
    mount(http: FastifyInstance): void {
      http.decorateRequest('principal', undefined);
      http.decorateRequest('verdict', null);
      http.addHook('onRequest', enter);
      // Only where a rule may have been spent: a hook that has nothing to do costs every answer 2 µs.
      http.addHook('onRoute', (route) => {
        if (endpointsByUrl.has(route.url) || route.config?.entrance === 'graph') route.onSend = [route.onSend ?? [], giveBackIfUnused].flat();
      });
    },

    giveBackUnused,

    /** A path that the router cannot read passes no hook; it counts as one that does not exist. */
    countUnreadable(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      return count(request, reply, { kind: kindOf(request.method), cost: 1, endpoints: none });
    },

    /** The context of a request that was let in. */
    contextOf,

    /** The same where the entrance is anonymous but this request needs a credential. */
    async admit(request: FastifyRequest): Promise<RequestContext> {
      request.principal = await authenticator.authenticate(request.headers);
      if (request.principal === null) throw missingCredential();
      return contextOf(request);
    },

    /** Counts a resolved operation of the graph over HTTP: a query is a read, a mutation a write for each field. */
    countOperation(request: FastifyRequest, reply: FastifyReply, operation: GraphOperation): Promise<void> {
      return count(request, reply, askOf(operation, request.principal ?? null));
    },

    /** The same without an answer to write headers into: an operation or a subscription (a read) over a WebSocket. Throws the refusal. */
    async countSocketOperation(principal: Principal | null, address: string, operation: GraphOperation): Promise<void> {
      const verdict = await limiter?.take({ principal, address, ...askOf(operation, principal) });
      if (verdict?.refusal) throw verdict.refusal;
      if (quota !== null && principal !== null) await quota.take(principal.organizationId);
    },

    /** A WebSocket connection counts as a read of its address. Answers the refusal, for the upgrade's 429. */
    async countConnection(address: string): Promise<Verdict | null> {
      return (await limiter?.take({ principal: null, address, kind: 'read', cost: 1, endpoints: none })) ?? null;
    },

    /** The principal of a connection's credential; one that is not valid counts for the address. */
    async authenticateSocket(authorization: string | undefined, address: string): Promise<Principal | null> {
      const shut = limiter?.shutOut(address);
      if (shut && !authenticator.knows({ authorization })) throw shut.refusal!;
      try {
        return await authenticator.authenticate({ authorization });
      } catch (error) {
        const verdict = error instanceof DomainError && error.code === 'unauthenticated' ? await limiter?.takeRefused(address) : null;
        throw verdict?.refusal ?? error;
      }
    },

    /** Whom a connection that was let in still belongs to, asked anew at each event: that is no guess, and counts for nothing. */
    reauthenticateSocket: async (authorization: string | undefined): Promise<Principal | null> => authenticator.authenticate({ authorization }),
  };
}

function contextOf(request: FastifyRequest): RequestContext {
  return {
    principal: request.principal ?? null,
    requestId: request.id,
    idempotency: idempotencyKeyOf(request),
    client: { address: request.ip, userAgent: request.headers['user-agent']?.slice(0, 300) ?? null },
    answer: { replayed: false },
  };
}

const none: readonly string[] = [];

/** As Fastify spells paths → the rule's name. */
const endpointsByUrl = new Map(Object.keys(endpoints).map((path) => [path.replaceAll(/\{(\w+)\}/g, ':$1'), [path]]));
const endpointOfMutation = new Map(Object.entries(endpoints).flatMap(([path, { mutation }]) => (mutation === null ? [] : [[mutation, path] as const])));

const askOf = ({ kind, fields }: GraphOperation, principal: Principal | null): Pick<Ask, 'kind' | 'cost' | 'endpoints'> =>
  kind === 'read' ? { kind, cost: 1, endpoints: none } : { kind, cost: fields.length, endpoints: principal === null ? none : fields.flatMap((field) => endpointOfMutation.get(field) ?? []) };

const kindOf = (method: string): Kind => (method === 'GET' || method === 'HEAD' || method === 'OPTIONS' ? 'read' : 'write');

const missingCredential = (): DomainError => new DomainError('unauthenticated', 'This needs a credential: send it as Authorization: Bearer <key>.');

function idempotencyKeyOf(request: FastifyRequest): IdempotencyKey | null {
  const key = request.headers['idempotency-key'];
  if (key === undefined || request.method === 'GET') return null;
  if (typeof key !== 'string' || !/^[\x20-\x7e]{1,255}$/.test(key)) {
    throw validationError([{ path: 'Idempotency-Key', message: 'must be 1 to 255 printable ASCII characters' }]);
  }
  const body = request.body as Buffer | undefined;
  return { key, fingerprint: fingerprint([request.method, request.url, body?.toString('base64') ?? '']) };
}
