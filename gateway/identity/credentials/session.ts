import type { Clock } from '#platform/clock.ts';
import type { Database } from '#platform/database/database.ts';
import type { Level, OrganizationRole, Plan } from '#platform/principal.ts';
import { digestOf, isToken } from '../tokens.ts';
import type { CredentialStrategy } from './strategy.ts';

const levelOf: Record<string, Level> = { viewer: 'read', editor: 'write', admin: 'admin', owner: 'admin' };

/** A session slides on with its use, but is not written to more often than this part of its life. */
const slideAfter = 1 / 12;

/** `qs_…`: reaches what the user's roles reach. */
export const sessionStrategy = (database: Database, clock: Clock, ttlSeconds: number): CredentialStrategy => ({
  isCached: false,
  matches: (token) => isToken('qs', token),
  lookUp: async (token) => {
    const [row] = await database.execute<SessionRow>(sessionWithReach, [digestOf(token)]);
    if (!row) return undefined;
    const now = clock.now();
    const usedBefore = now.getTime() - row.last_used_at.getTime();
    if (row.expires_at > now && usedBefore > ttlSeconds * 1000 * slideAfter) {
      await database.execute('update identity.session set last_used_at = $2, expires_at = $3 where id = $1', [row.id, now, new Date(now.getTime() + ttlSeconds * 1000)]);
    }
    const memberships = row.memberships ?? [];
    const home = memberships.find(({ is_default: isDefault }) => isDefault) ?? memberships[0];
    return {
      expiresAt: row.expires_at,
      principal: {
        kind: 'session',
        credentialId: row.id,
        userId: row.user_id,
        publisherId: null,
        organizationId: row.organization_id,
        plan: row.plan,
        organizationRole: row.organization_role,
        // A user without any workspace can still sign in, learn and be invited.
        vaultId: home?.vault_id ?? '',
        workspaceId: home?.workspace_id ?? '',
        access: Object.fromEntries(memberships.map(({ workspace_id: id, role }) => [id, levelOf[role]!])),
        scopes: null,
        isServiceAccount: false,
        steppedUpUntilMs: row.stepped_up_until?.getTime() ?? null,
      },
    };
  },
});

interface SessionRow {
  readonly id: string;
  readonly user_id: string;
  readonly organization_id: string;
  readonly plan: Plan;
  readonly organization_role: OrganizationRole | null;
  readonly last_used_at: Date;
  readonly expires_at: Date;
  readonly stepped_up_until: Date | null;
  /** In the order of the workspaces' making; null: none. */
  readonly memberships: { workspace_id: string; vault_id: string; role: string; is_default: boolean }[] | null;
}

const sessionWithReach = `
  select session.id, user_id, "user".organization_id, plan, organization_role, last_used_at, expires_at, stepped_up_until,
         (select jsonb_agg(jsonb_build_object('workspace_id', workspace_id, 'vault_id', vault_id, 'role', role, 'is_default', is_default) order by workspace_id)
            from identity.member join identity.workspace on workspace.id = workspace_id where member.user_id = session.user_id) as memberships
    from identity.session
         join identity.user on "user".id = user_id
         join identity.organization on organization.id = "user".organization_id
   where session.digest = $1`;
