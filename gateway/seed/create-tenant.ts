import type { EntityManager } from '@mikro-orm/core';
import { query } from '#platform/database/query.ts';
import { newId } from '#platform/ids.ts';
import { digestOf, newToken, prefixOf } from '../identity/tokens.ts';
import { base32Of, newTotpSecret } from '../identity/totp.ts';
import { insertApiKey } from '../identity/operations/create-api-key.ts';
import { insertPublisher } from '../identity/operations/create-publisher.ts';
import { insertUser } from '../identity/operations/create-user.ts';
import { insertSession } from '../identity/operations/sign-in.ts';
import { hashPassword, newPassword } from '../identity/password.ts';

export interface Tenant {
  readonly organizationId: string;
  readonly vaultId: string;
  /** Name → id. */
  readonly workspaces: Readonly<Record<string, string>>;
  readonly apiKeys: { readonly read_only: string; readonly read_write: string; readonly admin: string };
  readonly serviceAccountKey: string;
  readonly publisherToken: string | null;
  /** One user for each role. */
  readonly users: Readonly<Record<string, TenantUser>>;
}

export interface TenantUser {
  readonly id: string;
  readonly numericId: number;
  readonly email: string;
  readonly password: string;
  /** Base 32; null: the user has no authenticator. */
  readonly totpSecret: string | null;
  readonly sessionToken: string;
}

interface TenantOptions {
  readonly name: string;
  readonly domain: string;
  readonly plan: string;
  /** The first is the default one. */
  readonly workspaces: readonly string[];
  readonly people: readonly HiredPerson[];
  /** The slug of a publisher of this tenant. */
  readonly publisher?: string;
  readonly sessionTtlSeconds: number;
  readonly now: Date;
}

export interface Person {
  readonly role: string;
  readonly name: string;
  readonly organizationRole: 'architect' | 'sovereign' | null;
  readonly workspaceRole: 'owner' | 'admin' | 'editor' | 'viewer';
  readonly hasTotp: boolean;
}

/** A person with a password; hashing it takes 30 ms, and is done before the transaction. */
export interface HiredPerson extends Person {
  readonly password: string;
  readonly passwordHash: string;
}

export const hire = (people: readonly Person[]): Promise<HiredPerson[]> =>
  Promise.all(
    people.map(async (person) => {
      const password = newPassword();
      return { ...person, password, passwordHash: await hashPassword(password) };
    }),
  );

export const demoPeople: readonly Person[] = [
  { role: 'sovereign', name: 'Sofia Sovereign', organizationRole: 'sovereign', workspaceRole: 'owner', hasTotp: true },
  { role: 'architect', name: 'Archie Architect', organizationRole: 'architect', workspaceRole: 'owner', hasTotp: true },
  { role: 'admin', name: 'Ada Admin', organizationRole: null, workspaceRole: 'admin', hasTotp: true },
  { role: 'editor', name: 'Edgar Editor', organizationRole: null, workspaceRole: 'editor', hasTotp: false },
  { role: 'viewer', name: 'Vera Viewer', organizationRole: null, workspaceRole: 'viewer', hasTotp: false },
  { role: 'learner', name: 'Lena Learner', organizationRole: null, workspaceRole: 'viewer', hasTotp: false },
];

/** An organization with a vault, workspaces, people who are members of all of them, and one API key for each level. */
export async function createTenant(em: EntityManager, { name, domain, plan, workspaces, people, publisher, sessionTtlSeconds, now }: TenantOptions): Promise<Tenant> {
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

  const users: Record<string, TenantUser> = {};
  for (const person of people) {
    const id = newId('user');
    const email = `${person.role}@${domain}`;
    const [row] = await query<{ numeric_id: number }>(em, insertUser, [id, organizationId, email, person.name, person.organizationRole, person.passwordHash, now]);
    for (const workspaceId of Object.values(workspaceIds)) {
      await query(em, 'insert into identity.member (workspace_id, user_id, role) values ($1, $2, $3)', [workspaceId, id, person.workspaceRole]);
    }
    const secret = person.hasTotp ? newTotpSecret() : null;
    if (secret !== null) await query(em, 'insert into identity.totp (user_id, secret, confirmed_at) values ($1, $2, $3)', [id, secret, now]);
    const sessionToken = newToken('qs');
    await query(em, insertSession, [newId('session'), id, digestOf(sessionToken), null, null, now, new Date(now.getTime() + sessionTtlSeconds * 1000)]);
    users[person.role] = { id, numericId: row!.numeric_id, email, password: person.password, totpSecret: secret && base32Of(secret), sessionToken };
  }

  const makeKey = async (keyName: string, level: string, serviceAccount: boolean): Promise<string> => {
    const token = newToken('qk');
    const workspaceId = workspaceIds[workspaces[0]!];
    await query(em, insertApiKey, [newId('apiKey'), organizationId, vaultId, workspaceId, keyName, level, serviceAccount, prefixOf(token), digestOf(token), null, now, null]);
    return token;
  };
  const makePublisher = async (slug: string): Promise<string> => {
    const token = newToken('qp');
    await query(em, insertPublisher, [newId('publisher'), organizationId, slug, 'Demo Publisher', Object.values(users)[0]!.id, digestOf(token), now]);
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
    publisherToken: publisher === undefined ? null : await makePublisher(publisher),
    serviceAccountKey: await makeKey('Demo service account', 'read-write', true),
    users,
  };
}
