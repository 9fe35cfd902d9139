import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { RequestContext } from '../context.ts';

/** Long enough for a request on its way, too short to be worth stealing. */
const lifetimeMs = 30_000;

type Claims = Pick<RequestContext, 'principal' | 'requestId' | 'idempotency' | 'client'> & { readonly expiresAtMs: number };

/** The gateway's word for who is asking: claims, dot, HMAC-SHA-256 under INTERNAL_SECRET. */
export function signRequest(request: RequestContext, secret: string, clock: Clock): string {
  const { principal, requestId, idempotency, client } = request;
  const claims: Claims = { principal, requestId, idempotency, client, expiresAtMs: clock.now().getTime() + lifetimeMs };
  const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
  return `${payload}.${hmac(payload, secret).toString('base64url')}`;
}

/** Null for whoever does not come through the gateway. */
export function verifyRequest(authorization: string | undefined, secret: string, clock: Clock): RequestContext | null {
  const [payload, signature] = authorization?.replace(/^Bearer /, '').split('.') ?? [];
  if (!payload || !signature) return null;
  const given = Buffer.from(signature, 'base64url');
  const expected = hmac(payload, secret);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  const { expiresAtMs, ...claims } = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Claims;
  return expiresAtMs > clock.now().getTime() ? { ...claims, answer: { replayed: false } } : null;
}

const hmac = (payload: string, secret: string): Buffer => createHmac('sha256', secret).update(payload).digest();
