import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EntityManager } from '@mikro-orm/core';
import type { Config } from '#platform/config.ts';
import { query } from '#platform/database/query.ts';
import { transaction } from '#platform/database/transaction.ts';
import type { Process } from '#platform/process.ts';
import type { Demo, Subgraph } from '#platform/subgraph/subgraph.ts';
import { hashPassword, newPassword } from '../identity/password.ts';
import { createTenant, demoPeople } from './create-tenant.ts';
import type { Tenant } from './create-tenant.ts';

/**
 * The first start on an empty database makes the demo organization and a second tenant beside it, and writes their
 * credentials where only the operator reads. Everything commits together: a start that dies is a first start again.
 */
export async function seedFirstStart({ opened, subgraphs, url, config }: { opened: Process; subgraphs: readonly Subgraph[]; url: string; config: Config }): Promise<void> {
  const { database, platform } = opened;
  if (!config.seedDemo) return createFirstOrganization(opened);
  const tenants = await transaction(database.orm.em.fork(), async (em) => {
    if (!(await claimFirstStart(em))) return null;
    const now = platform.clock.now();
    const demo = await createTenant(em, { name: 'Demo Organization', domain: 'demo.example', plan: 'business', workspaces: ['default', 'research'], people: demoPeople, now });
    const other = await createTenant(em, { name: 'Other Organization', domain: 'other.example', plan: 'business', workspaces: ['default'], people: demoPeople, now });
    for (const subgraph of subgraphs) await subgraph.seed?.(em, demoOf(demo, now));
    return { demo, other };
  });
  if (tenants === null) return;
  const path = join(config.dataDir, 'credentials.json');
  await mkdir(config.dataDir, { recursive: true });
  await writeFile(path, `${JSON.stringify(credentialsOf(tenants.demo, tenants.other, config.baseUrl ?? url), null, 2)}\n`, { mode: 0o600 });
  await chmod(path, 0o600);
  greet(path, config.baseUrl ?? url);
}

/** Without demo data: an empty organization and its Sovereign, whose credentials are shown this once. */
async function createFirstOrganization({ database, platform }: Process): Promise<void> {
  const password = newPassword();
  const sovereign = { role: 'sovereign', name: 'Sovereign', organizationRole: 'sovereign', workspaceRole: 'owner', passwordHash: await hashPassword(password) } as const;
  const tenant = await transaction(database.orm.em.fork(), async (em) => {
    if (!(await claimFirstStart(em))) return null;
    return createTenant(em, { name: 'Organization', domain: 'localhost', plan: 'business', workspaces: ['default'], people: [sovereign], now: platform.clock.now() });
  });
  if (tenant === null) return;
  process.stderr.write(`
The organization is ready. Shown this once, so write it down:

  Sovereign          ${tenant.users.sovereign!.email}
  One-time password  ${password}
  Admin API key      ${tenant.apiKeys.admin}

`);
}

/** One process of several that start at once on a new database makes the demo; the others wait for it here and find it made. */
async function claimFirstStart(em: EntityManager): Promise<boolean> {
  await query(em, 'lock table identity.organization in exclusive mode');
  const [row] = await query<{ exists: boolean }>(em, 'select exists (select from identity.organization)');
  return !row!.exists;
}

const demoOf = (tenant: Tenant, now: Date): Demo => ({
  organizationId: tenant.organizationId,
  workspaceIds: Object.values(tenant.workspaces),
  users: Object.fromEntries(Object.entries(tenant.users).map(([role, { id, numericId }]) => [role, { id, numericId }])),
  now,
});

function credentialsOf(demo: Tenant, other: Tenant, baseUrl: string) {
  const people = ({ users }: Tenant, roles: readonly string[]) =>
    Object.fromEntries(roles.map((role) => [role, { id: users[role]!.id, numeric_id: users[role]!.numericId, email: users[role]!.email }]));
  return {
    base_url: baseUrl,
    organization_id: demo.organizationId,
    vault_id: demo.vaultId,
    workspace_id: demo.workspaces.default,
    workspaces: demo.workspaces,
    api_keys: demo.apiKeys,
    service_account_key: demo.serviceAccountKey,
    other_tenant: {
      organization_id: other.organizationId,
      api_keys: { read_write: other.apiKeys.read_write, admin: other.apiKeys.admin },
      users: people(other, ['sovereign', 'architect', 'learner']),
    },
    users: people(demo, Object.keys(demo.users)),
  };
}

function greet(path: string, url: string): void {
  process.stderr.write(`
The demo organization is ready. Its credentials: ${path}
Try it:

  KEY=$(node -p "require('${path.startsWith('/') ? path : `./${path}`}').api_keys.read_write")
  curl -s ${url}/v1/memory/store -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" -d '{"content":"The quarterly report is due on the first Monday of October."}'
  curl -s "${url}/v1/memory/retrieve?q=when+is+the+deadline" -H "Authorization: Bearer $KEY"
  curl -s "${url}/v1/memory/retrieve?keyword=quartely+report" -H "Authorization: Bearer $KEY"

`);
}

