import type { EntityManager } from '@mikro-orm/core';
import { query } from '#platform/database/query.ts';
import { newId } from '#platform/ids.ts';
import { digestOf, newToken, prefixOf } from '../identity/tokens.ts';
import { insertApiKey } from '../identity/operations/create-api-key.ts';

export interface Tenant {
  readonly organizationId: string;
  readonly vaultId: string;
  /** Name → id. */
  readonly workspaces: Readonly<Record<string, string>>;
  readonly apiKeys: { readonly read_only: string; readonly read_write: string; readonly admin: string };
  readonly serviceAccountKey: string;
  /** One user for each role. */
  readonly users: Readonly<Record<string, { readonly id: string; readonly numericId: number; readonly email: string }>>;
}

interface TenantOptions {
  readonly name: string;
  readonly domain: string;
  readonly plan: string;
  /** The first is the default one. */
  readonly workspaces: readonly string[];
  readonly people: readonly Person[];
  readonly now: Date;
}

export interface Person {
  readonly role: string;
  readonly name: string;
  readonly organizationRole: 'architect' | 'sovereign' | null;
  readonly workspaceRole: 'owner' | 'admin' | 'editor' | 'viewer';
  readonly passwordHash?: string;
}

export const demoPeople: readonly Person[] = [
  { role: 'sovereign', name: 'Sofia Sovereign', organizationRole: 'sovereign', workspaceRole: 'owner' },
  { role: 'architect', name: 'Archie Architect', organizationRole: 'architect', workspaceRole: 'owner' },
  { role: 'admin', name: 'Ada Admin', organizationRole: null, workspaceRole: 'admin' },
  { role: 'editor', name: 'Edgar Editor', organizationRole: null, workspaceRole: 'editor' },
  { role: 'viewer', name: 'Vera Viewer', organizationRole: null, workspaceRole: 'viewer' },
  { role: 'learner', name: 'Lena Learner', organizationRole: null, workspaceRole: 'viewer' },
];

/** An organization with a vault, workspaces, people who are members of all of them, and one API key for each level. */
export async function createTenant(em: EntityManager, { name, domain, plan, workspaces, people, now }: TenantOptions): Promise<Tenant> {
  const organizationId = newId('organization');
  const vaultId = newId('vault');
  await query(em, 'insert into identity.organization (id, name, plan, created_at) values ($1, $2, $3, $4)', [organizationId, name, plan, now]);
  await query(em, 'insert into identity.vault (id, organization_id, name, created_at) values ($1, $2, $3, $4)', [vaultId, organizationId, 'main', now]);

  const workspaceIds: Record<string, string> = {};
  for (const workspace of workspaces) {
    workspaceIds[workspace] = newId('workspace');
    await query(em, 'insert into identity.workspace (id, organization_id, vault_id, name, is_default, created_at) values ($1, $2, $3, $4, $5, $6)', [
      workspaceIds[workspace], organizationId, vaultId, workspace, workspace === workspaces[0], now,
    ]);
  }

  const users: Record<string, { id: string; numericId: number; email: string }> = {};
  for (const person of people) {
    const id = newId('user');
    const email = `${person.role}@${domain}`;
    const [row] = await query<{ numeric_id: number }>(
      em,
      'insert into identity.user (id, organization_id, email, name, organization_role, password_hash, created_at) values ($1, $2, $3, $4, $5, $6, $7) returning numeric_id',
      [id, organizationId, email, person.name, person.organizationRole, person.passwordHash ?? null, now],
    );
    users[person.role] = { id, numericId: row!.numeric_id, email };
    for (const workspaceId of Object.values(workspaceIds)) {
      await query(em, 'insert into identity.member (workspace_id, user_id, role) values ($1, $2, $3)', [workspaceId, id, person.workspaceRole]);
    }
  }

  const makeKey = async (keyName: string, level: string, serviceAccount: boolean): Promise<string> => {
    const token = newToken('qk');
    const workspaceId = workspaceIds[workspaces[0]!];
    await query(em, insertApiKey, [newId('apiKey'), organizationId, vaultId, workspaceId, keyName, level, serviceAccount, prefixOf(token), digestOf(token), null, now, null]);
    return token;
  };
  return {
    organizationId,
    vaultId,
    workspaces: workspaceIds,
    apiKeys: {
      read_only: await makeKey('Demo read-only', 'read-only', false),
      read_write: await makeKey('Demo read-write', 'read-write', false),
      admin: await makeKey('Demo admin', 'admin', false),
    },
    serviceAccountKey: await makeKey('Demo service account', 'read-write', true),
    users,
  };
}
