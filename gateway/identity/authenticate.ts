import { LRUCache } from 'lru-cache';
import type { Clock } from '#platform/clock.ts';
import type { Database } from '#platform/database/database.ts';
import { DomainError } from '#platform/errors.ts';
import type { Level, Principal } from '#platform/principal.ts';
import { digestOf, isApiKeyToken } from './api-key-token.ts';

/** Turns the Authorization header into a principal, or refuses. Null when the request carries no credential. */
export interface Authenticator {
  authenticate(headers: { authorization?: string | undefined; 'x-api-key'?: unknown }): Promise<Principal | null>;
  /** Forgets what it knows; called when keys or roles change, here or (by notification) in another process. */
  forget(): void;
}

const levelOf: Record<string, Level> = { 'read-only': 'read', 'read-write': 'write', admin: 'admin' };

export function createAuthenticator(database: Database, clock: Clock): Authenticator {
  // A key is looked up once and kept for as long as nothing changes; the short life bounds what a lost notification costs.
  const keys = new LRUCache<string, { principal: Principal; expiresAt: Date | null }>({ max: 10_000, ttl: 5_000 });

  const lookUp = async (token: string) => {
    const [row] = await database.execute<ApiKeyRow>(apiKeyWithReach, [digestOf(token)]);
    if (!row) return undefined;
    const level = levelOf[row.level]!;
    const reach = level === 'admin' ? row.vault_workspaces : [row.workspace_id];
    const principal: Principal = {
      kind: 'api_key',
      credentialId: row.id,
      userId: null,
      organizationId: row.organization_id,
      organizationRole: null,
      vaultId: row.vault_id,
      workspaceId: row.workspace_id,
      access: Object.fromEntries(reach.map((id) => [id, level])),
      steppedUpUntilMs: null,
    };
    const known = { principal, expiresAt: row.expires_at };
    keys.set(token, known);
    return known;
  };

  return {
    forget: () => keys.clear(),
    authenticate: async ({ authorization, 'x-api-key': legacy }) => {
      if (authorization === undefined) {
        if (legacy === undefined) return null;
        throw new DomainError('unauthenticated', 'X-API-Key is no longer supported: send the key as Authorization: Bearer <key>.');
      }
      const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
      const known = token !== undefined && isApiKeyToken(token) ? (keys.get(token) ?? (await lookUp(token))) : undefined;
      if (known === undefined || (known.expiresAt !== null && known.expiresAt <= clock.now())) {
        throw new DomainError('unauthenticated', 'The credential is unknown, expired or revoked. Send Authorization: Bearer <key>.');
      }
      return known.principal;
    },
  };
}

interface ApiKeyRow {
  readonly id: string;
  readonly organization_id: string;
  readonly vault_id: string;
  readonly workspace_id: string;
  readonly level: string;
  readonly expires_at: Date | null;
  readonly vault_workspaces: string[];
}

const apiKeyWithReach = `
  select id, organization_id, vault_id, workspace_id, level, expires_at,
         array(select workspace.id from identity.workspace where workspace.vault_id = api_key.vault_id) as vault_workspaces
    from identity.api_key
   where digest = $1 and revoked_at is null`;
