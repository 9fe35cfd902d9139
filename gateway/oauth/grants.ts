import type { EntityManager } from '@mikro-orm/core';
import { query } from '#platform/database/query.ts';
import { identityChanged } from '../identity/identity-changed.ts';

/** What a user allowed beside the scopes. oidc-provider keeps it with the grant as an authorization detail (RFC 9396). */
export interface Allowed {
  readonly type: 'quadrivium';
  readonly workspaceId: string;
  /** Until when the code given with scope growth counts, in ms since 1970. */
  readonly steppedUpUntilMs: number | null;
  readonly [name: string]: unknown;
}

/** Without its grant no code and no token counts any more, neither here nor in the gateway's other processes. */
export async function revokeGrant(em: EntityManager, grantId: string): Promise<void> {
  const [revoked] = await query(em, "delete from identity.oauth_record where model = 'Grant' and id = $1 returning id", [grantId]);
  if (revoked) await identityChanged(em);
}
