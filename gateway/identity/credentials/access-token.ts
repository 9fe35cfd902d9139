import type { KeyObject } from 'node:crypto';
import { errors, jwtVerify } from 'jose';
import { z } from 'zod';
import type { Clock } from '#platform/clock.ts';
import type { Database } from '#platform/database/database.ts';
import { scopes } from '#platform/principal.ts';
import type { Level, OrganizationRole, Plan, Scope } from '#platform/principal.ts';
import type { CredentialStrategy } from './strategy.ts';

export interface AccessTokens {
  /** Who issues them, and whom they are for: this server is both. It is known once the server listens. */
  readonly issuer: () => string;
  readonly publicKey: KeyObject;
}

const Claims = z.object({
  sub: z.string(),
  client_id: z.string(),
  scope: z.string().transform((text) => scopes.filter((scope) => text.split(' ').includes(scope))),
  grant_id: z.string(),
  workspace_id: z.string(),
  stepped_up_until: z.number().optional(),
  exp: z.number(),
});

/** The JWT of RFC 9068. Its grant, its user and the membership are looked up too, so that it ends with any of them. */
export const accessTokenStrategy = (database: Database, clock: Clock, tokens: AccessTokens): CredentialStrategy => ({
  isCached: true,
  matches: (token) => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token),
  lookUp: async (token) => {
    const now = clock.now();
    const claims = await claimsOf(token, tokens, now);
    if (claims === undefined) return undefined;
    const [row] = await database.execute<GrantedRow>(grantedUser, [claims.grant_id, claims.sub, claims.workspace_id, now]);
    if (!row) return undefined;
    return {
      expiresAt: new Date(claims.exp * 1000),
      principal: {
        kind: 'oauth',
        credentialId: claims.grant_id,
        userId: claims.sub,
        publisherId: null,
        organizationId: row.organization_id,
        plan: row.plan,
        organizationRole: row.organization_role,
        vaultId: row.vault_id,
        workspaceId: claims.workspace_id,
        access: accessOf(row.roles, claims.scope),
        scopes: claims.scope.filter((scope) => scope !== 'growth' || managesGrowth(row)),
        isServiceAccount: false,
        steppedUpUntilMs: claims.stepped_up_until === undefined ? null : claims.stepped_up_until * 1000,
      },
    };
  },
});

/** What a token of ours says; undefined for one that is not, or no longer. */
export async function claimsOf(token: string, { issuer, publicKey }: AccessTokens, now: Date): Promise<z.output<typeof Claims> | undefined> {
  const expected = { issuer: issuer(), audience: issuer(), typ: 'at+jwt', algorithms: ['EdDSA'], currentDate: now };
  try {
    return Claims.parse((await jwtVerify(token, publicKey, expected)).payload);
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}

/** As far as both the user's role and the token's scopes reach. */
function accessOf(roles: Readonly<Record<string, string>>, granted: readonly Scope[]): Record<string, Level> {
  const most: Level | undefined = granted.includes('memory.write') ? 'write' : granted.includes('memory.read') ? 'read' : undefined;
  if (most === undefined) return {};
  return Object.fromEntries(Object.entries(roles).map(([id, role]) => [id, role === 'viewer' ? 'read' : most]));
}

/** Levels stop at `write` here, so what growth tracks ask of a role is settled with the scope (requirements.ts). */
const managesGrowth = ({ organization_role: role, roles }: GrantedRow): boolean => role !== null || Object.values(roles).some((one) => one === 'admin' || one === 'owner');

interface GrantedRow {
  readonly organization_id: string;
  readonly plan: Plan;
  readonly organization_role: OrganizationRole | null;
  readonly vault_id: string;
  readonly roles: Record<string, string>;
}

const grantedUser = `
  select "user".organization_id, organization.plan, "user".organization_role, workspace.vault_id,
         (select jsonb_object_agg(workspace_id, role) from identity.member where user_id = "user".id) as roles
    from identity.oauth_record as granted
         join identity.user on "user".id = granted.payload ->> 'accountId'
         join identity.organization on organization.id = "user".organization_id
         join identity.member on member.user_id = "user".id and member.workspace_id = $3
         join identity.workspace on workspace.id = member.workspace_id
   where granted.model = 'Grant' and granted.id = $1 and granted.expires_at > $4 and "user".id = $2`;
