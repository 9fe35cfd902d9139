import type { Database } from '#platform/database/database.ts';
import type { Plan } from '#platform/principal.ts';
import { digestOf, isToken } from '../tokens.ts';
import type { CredentialStrategy } from './strategy.ts';

/** `qp_…`: publishes extensions, and reaches nothing else. */
export const publisherStrategy = (database: Database): CredentialStrategy => ({
  isCached: false,
  matches: (token) => isToken('qp', token),
  lookUp: async (token) => {
    const [row] = await database.execute<{ id: string; organization_id: string; plan: Plan }>(publisherByDigest, [digestOf(token)]);
    if (!row) return undefined;
    return {
      expiresAt: null,
      principal: {
        kind: 'publisher',
        credentialId: row.id,
        userId: null,
        publisherId: row.id,
        organizationId: row.organization_id,
        plan: row.plan,
        organizationRole: null,
        vaultId: '',
        workspaceId: '',
        access: {},
        scopes: null,
        isServiceAccount: false,
        steppedUpUntilMs: null,
      },
    };
  },
});

const publisherByDigest = `
  select publisher.id, organization_id, plan from identity.publisher join identity.organization on organization.id = organization_id where digest = $1`;
