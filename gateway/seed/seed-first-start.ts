import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EntityManager } from '@mikro-orm/core';
import type { Config } from '#platform/config.ts';
import type { Database } from '#platform/database/database.ts';
import { query } from '#platform/database/query.ts';
import { transaction } from '#platform/database/transaction.ts';
import type { Process } from '#platform/process.ts';
import type { Demo, Subgraph } from '#platform/subgraph/subgraph.ts';
import { createDemoOauthClient } from '../oauth/demo-client.ts';
import type { DemoOauthClient } from '../oauth/demo-client.ts';
import { createTenant, demoPeople, hire } from './create-tenant.ts';
import type { Tenant } from './create-tenant.ts';

/**
 * The first start on an empty database makes the demo organization and a second tenant beside it, and writes their
 * credentials where only the operator reads. Everything commits together: a start that dies is a first start again.
 */
export async function seedFirstStart({ opened, subgraphs, url, config }: { opened: Process; subgraphs: readonly Subgraph[]; url: string; config: Config }): Promise<void> {
  const { database, platform } = opened;
  if (!config.seedDemo) return createFirstOrganization(opened);
  if (await isFounded(database)) return;
  const [people, otherPeople] = [await hire(demoPeople), await hire(demoPeople)];
  const { sessionTtlSeconds } = config;
  const tenants = await transaction(database.orm.em.fork(), async (em) => {
    if (!(await claimFirstStart(em))) return null;
    const now = platform.clock.now();
    const common = { plan: 'business', sessionTtlSeconds, now };
    const demo = await createTenant(em, { ...common, name: 'Demo Organization', domain: 'demo.example', workspaces: ['default', 'research'], people, publisher: 'demo-publisher' });
    const other = await createTenant(em, { ...common, name: 'Other Organization', domain: 'other.example', workspaces: ['default'], people: otherPeople });
    const oauthClient = await createDemoOauthClient(em, demo.organizationId, now);
    for (const subgraph of subgraphs) await subgraph.seed?.(em, demoOf(demo, now));
    return { demo, other, oauthClient };
  });
  if (tenants === null) return;
  const path = join(config.dataDir, 'credentials.json');
  await mkdir(config.dataDir, { recursive: true });
  await writeFile(path, `${JSON.stringify(credentialsOf(tenants, config.baseUrl ?? url), null, 2)}\n`, { mode: 0o600 });
  await chmod(path, 0o600);
  greet(path, config.baseUrl ?? url);
}

/** Without demo data: an empty organization and its Sovereign, whose credentials are shown this once. */
async function createFirstOrganization({ database, platform }: Process): Promise<void> {
  if (await isFounded(database)) return;
  const people = await hire([{ role: 'sovereign', name: 'Sovereign', organizationRole: 'sovereign', workspaceRole: 'owner', hasTotp: false }]);
  const { sessionTtlSeconds } = platform.config;
  const tenant = await transaction(database.orm.em.fork(), async (em) => {
    if (!(await claimFirstStart(em))) return null;
    return createTenant(em, { name: 'Organization', domain: 'localhost', plan: 'business', workspaces: ['default'], people, sessionTtlSeconds, now: platform.clock.now() });
  });
  if (tenant === null) return;
  process.stderr.write(`
The organization is ready. Shown this once, so write it down:

  Sovereign          ${tenant.users.sovereign!.email}
  One-time password  ${tenant.users.sovereign!.password}
  Admin API key      ${tenant.apiKeys.admin}

`);
}

/** Hashing passwords takes a moment: not at every start. */
async function isFounded(database: Database): Promise<boolean> {
  const [row] = await database.execute<{ exists: boolean }>('select exists (select from identity.organization)');
  return row!.exists;
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

function credentialsOf({ demo, other, oauthClient }: { demo: Tenant; other: Tenant; oauthClient: DemoOauthClient }, baseUrl: string) {
  const people = ({ users }: Tenant, roles: readonly string[]) =>
    Object.fromEntries(
      roles.map((role) => {
        const { id, numericId, email, password, totpSecret, sessionToken } = users[role]!;
        return [role, { id, numeric_id: numericId, email, password, ...(totpSecret !== null && { totp_secret: totpSecret }), session_token: sessionToken }];
      }),
    );
  return {
    base_url: baseUrl,
    organization_id: demo.organizationId,
    vault_id: demo.vaultId,
    workspace_id: demo.workspaces.default,
    workspaces: demo.workspaces,
    oauth_client: oauthClient,
    api_keys: demo.apiKeys,
    service_account_key: demo.serviceAccountKey,
    publisher_token: demo.publisherToken,
    other_tenant: {
      organization_id: other.organizationId,
      api_keys: { read_write: other.apiKeys.read_write, admin: other.apiKeys.admin },
      users: people(other, Object.keys(other.users)),
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

