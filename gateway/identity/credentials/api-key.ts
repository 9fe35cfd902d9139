import type { Database } from '#platform/database/database.ts';
import type { Level, Plan } from '#platform/principal.ts';
import { digestOf, isToken } from '../tokens.ts';
import type { CredentialStrategy } from './strategy.ts';

const levelOf: Record<string, Level> = { 'read-only': 'read', 'read-write': 'write', admin: 'admin' };

/** `qk_…`: reaches its own workspace, an admin key every workspace of its vault. */
export const apiKeyStrategy = (database: Database): CredentialStrategy => ({
  isCached: true,
  matches: (token) => isToken('qk', token),
  lookUp: async (token) => {
    const [row] = await database.execute<ApiKeyRow>(apiKeyWithReach, [digestOf(token)]);
    if (!row) return undefined;
    const level = levelOf[row.level]!;
    const reach = level === 'admin' ? row.vault_workspaces : [row.workspace_id];
    return {
      expiresAt: row.expires_at,
      principal: {
        kind: 'api_key',
        credentialId: row.id,
        userId: null,
        publisherId: null,
        organizationId: row.organization_id,
        plan: row.plan,
        organizationRole: null,
        vaultId: row.vault_id,
        workspaceId: row.workspace_id,
        access: Object.fromEntries(reach.map((id) => [id, level])),
        scopes: null,
        isServiceAccount: row.service_account,
        steppedUpUntilMs: null,
      },
    };
  },
});

interface ApiKeyRow {
  readonly id: string;
  readonly organization_id: string;
  readonly plan: Plan;
  readonly vault_id: string;
  readonly workspace_id: string;
  readonly level: string;
  readonly service_account: boolean;
  readonly expires_at: Date | null;
  readonly vault_workspaces: string[];
}

const apiKeyWithReach = `
  select api_key.id, organization_id, organization.plan, vault_id, workspace_id, level, service_account, expires_at,
         array(select workspace.id from identity.workspace where workspace.vault_id = api_key.vault_id) as vault_workspaces
    from identity.api_key join identity.organization on organization.id = organization_id
   where digest = $1 and revoked_at is null`;
