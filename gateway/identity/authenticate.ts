import { LRUCache } from 'lru-cache';
import type { Clock } from '#platform/clock.ts';
import type { Config } from '#platform/config.ts';
import type { Database } from '#platform/database/database.ts';
import { DomainError } from '#platform/errors.ts';
import type { Principal } from '#platform/principal.ts';
import { accessTokenStrategy } from './credentials/access-token.ts';
import type { AccessTokens } from './credentials/access-token.ts';
import { apiKeyStrategy } from './credentials/api-key.ts';
import { publisherStrategy } from './credentials/publisher.ts';
import { sessionStrategy } from './credentials/session.ts';
import type { CredentialStrategy, Known } from './credentials/strategy.ts';

/** Turns the Authorization header into a principal, or refuses. Null when the request carries no credential. At once where nothing has to be looked up. */
export interface Authenticator {
  authenticate(headers: { authorization?: string | undefined; 'x-api-key'?: unknown }): Promise<Principal | null> | Principal | null;
  /** Whether it would answer without looking anything up. */
  knows(headers: { authorization?: string | undefined; 'x-api-key'?: unknown }): boolean;
  /** Forgets what it knows; called when keys or roles change, here or (by notification) in another process. */
  forget(): void;
}

export function createAuthenticator(database: Database, clock: Clock, { sessionTtlSeconds }: Config, accessTokens: AccessTokens): Authenticator {
  const strategies: readonly CredentialStrategy[] = [
    apiKeyStrategy(database),
    sessionStrategy(database, clock, sessionTtlSeconds),
    accessTokenStrategy(database, clock, accessTokens),
    publisherStrategy(database),
  ];
  // A credential is looked up once and kept for as long as nothing changes; the short life bounds what a lost notification costs.
  const cache = new LRUCache<string, Known>({ max: 10_000, ttl: 5_000, ttlResolution: 100 });
  let changes = 0;

  const lookUp = async (token: string): Promise<Known | undefined> => {
    const strategy = strategies.find((one) => one.matches(token));
    const before = changes;
    const known = await strategy?.lookUp(token);
    // What was read while something changed may be of before the change.
    if (known !== undefined && strategy!.isCached && changes === before) cache.set(token, known);
    return known;
  };

  const principalOf = (known: Known | undefined): Principal => {
    if (known === undefined || (known.expiresAt !== null && known.expiresAt <= clock.now())) {
      throw new DomainError('unauthenticated', 'The credential is unknown, expired or revoked. Send Authorization: Bearer <key>.');
    }
    return known.principal;
  };

  return {
    forget: () => {
      changes += 1;
      cache.clear();
    },
    knows: ({ authorization }) => authorization === undefined || cache.has(tokenOf(authorization) ?? ''),
    authenticate: ({ authorization, 'x-api-key': legacy }) => {
      if (authorization === undefined) {
        if (legacy === undefined) return null;
        throw new DomainError('unauthenticated', 'X-API-Key is no longer supported: send the key as Authorization: Bearer <key>.');
      }
      const token = tokenOf(authorization);
      const known = token === undefined ? undefined : cache.get(token);
      return token === undefined || known !== undefined ? principalOf(known) : lookUp(token).then(principalOf);
    },
  };
}

const tokenOf = (authorization: string): string | undefined => /^Bearer +(\S+)$/i.exec(authorization)?.[1];
