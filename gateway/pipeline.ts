import type { FastifyRequest } from 'fastify';
import type { RequestContext } from '#platform/context.ts';
import { DomainError, validationError } from '#platform/errors.ts';
import { fingerprint } from '#platform/idempotency.ts';
import type { IdempotencyKey } from '#platform/idempotency.ts';
import type { Principal } from '#platform/principal.ts';
import type { Authenticator } from './identity/authenticate.ts';

/** How a request may come in: without a credential, or only with one. */
export type Entrance = 'public' | 'credential';

/**
 * What happens to a request before any of its work is accepted, the same for every entrance (REST, GraphQL):
 *
 *                     REST public   REST credential   GraphQL     stranger
 *   authenticate      if given      required          if given    never
 *   idempotency key   writes        writes            mutations   never
 *
 * Rate limits come between the two (decisions 7).
 */
export function createPipeline(authenticator: Authenticator) {
  return {
    async admit(request: FastifyRequest, entrance: Entrance): Promise<RequestContext> {
      return contextOf(request, await authenticate(authenticator, request, entrance), idempotencyKeyOf(request));
    },
    /** A path that knows its callers by other means than our credentials: an OAuth client's secret, a page's cookie. */
    async admitStranger(request: FastifyRequest): Promise<RequestContext> {
      return contextOf(request, null, null);
    },
  };
}

const contextOf = (request: FastifyRequest, principal: Principal | null, idempotency: IdempotencyKey | null): RequestContext => ({
  principal,
  requestId: request.id,
  idempotency,
  client: { address: request.ip, userAgent: request.headers['user-agent']?.slice(0, 300) ?? null },
  answer: { replayed: false },
});

export type Pipeline = ReturnType<typeof createPipeline>;

async function authenticate(authenticator: Authenticator, { headers }: FastifyRequest, entrance: Entrance): Promise<Principal | null> {
  const principal = await authenticator.authenticate(headers);
  if (principal === null && entrance === 'credential') {
    throw new DomainError('unauthenticated', 'This needs a credential: send it as Authorization: Bearer <key>.');
  }
  return principal;
}

function idempotencyKeyOf(request: FastifyRequest): IdempotencyKey | null {
  const key = request.headers['idempotency-key'];
  if (key === undefined || request.method === 'GET') return null;
  if (typeof key !== 'string' || !/^[\x20-\x7e]{1,255}$/.test(key)) {
    throw validationError([{ path: 'Idempotency-Key', message: 'must be 1 to 255 printable ASCII characters' }]);
  }
  const body = request.body as Buffer | undefined;
  return { key, fingerprint: fingerprint([request.method, request.url, body?.toString('base64') ?? '']) };
}
