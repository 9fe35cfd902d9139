import type { EntityManager } from '@mikro-orm/core';
import { auditEntry, recordAudit } from '#platform/audit/record-audit.ts';
import { query } from '#platform/database/query.ts';
import { identityChanged } from '../identity/identity-changed.ts';
import { currentCall } from './current-call.ts';

/** What a user allowed beside the scopes. oidc-provider keeps it with the grant as an authorization detail (RFC 9396). */
export interface Allowed {
  readonly type: 'quadrivium';
  readonly workspaceId: string;
  /** Until when the code given with scope growth counts, in ms since 1970. */
  readonly steppedUpUntilMs: number | null;
  readonly [name: string]: unknown;
}

/** A client gave it up, or a code or refresh token came twice. */
type Ending = 'revokeOauthGrant' | 'reuseOauthToken';

/** Without its grant no code and no token counts any more, neither here nor in the gateway's other processes. */
export async function revokeGrant(em: EntityManager, grantId: string, operation: Ending): Promise<void> {
  const [revoked] = await query<{ client_id: string; user_id: string; organization_id: string }>(em, deleteGrant, [grantId]);
  if (!revoked) return;
  await identityChanged(em);
  const ctx = currentCall();
  const outcome = operation === 'revokeOauthGrant' ? 'succeeded' : 'permission_denied';
  const entry = auditEntry(ctx, { operation, subjectIds: [grantId, revoked.client_id], outcome }, { organizationId: revoked.organization_id, userId: revoked.user_id });
  await recordAudit(em, [{ ...entry, actorKind: 'oauth', credentialId: grantId }], ctx.clock.now());
}

const deleteGrant = `
  with deleted as (delete from identity.oauth_record where model = 'Grant' and id = $1 returning payload)
  select payload ->> 'clientId' as client_id, payload ->> 'accountId' as user_id, organization_id
    from deleted join identity.user on "user".id = payload ->> 'accountId'`;
