import type { Context } from '#platform/context.ts';
import { every } from '#platform/jobs/every.ts';
import { forgetArchives } from '#platform/exports/exports.ts';
import type { Closable, Subgraph } from '#platform/subgraph/subgraph.ts';
import { ApiKey } from './entities/api-key.ts';
import { Organization } from './entities/organization.ts';
import { User } from './entities/user.ts';
import { Vault } from './entities/vault.ts';
import { Workspace } from './entities/workspace.ts';
import { identityExports } from './exports.ts';
import { forgetOauthRecords } from './jobs/forget-oauth-records.ts';
import { identityMigration } from './migrations/0001-identity.ts';
import { signInMigration } from './migrations/0002-sign-in.ts';
import { oauthMigration } from './migrations/0003-oauth.ts';
import { createApiKey } from './operations/create-api-key.ts';
import { getExport } from './operations/get-export.ts';
import { getOrganization } from './operations/get-organization.ts';
import { getUser } from './operations/get-user.ts';
import { listApiKeys } from './operations/list-api-keys.ts';
import { listWorkspaces } from './operations/list-workspaces.ts';
import { revokeApiKey } from './operations/revoke-api-key.ts';
import { startFullExport } from './operations/start-full-export.ts';
import { loadOrganization, loadUser, loadVault, loadWorkspace } from './references.ts';
import { ApiKeyResolver } from './resolvers/api-key.ts';
import { ExportResolver } from './resolvers/export.ts';
import { OrganizationResolver } from './resolvers/organization.ts';
import { UserResolver } from './resolvers/user.ts';
import { VaultResolver } from './resolvers/vault.ts';
import { WorkspaceResolver } from './resolvers/workspace.ts';

/**
 * Who exists: organizations, vaults, workspaces, users and credentials. A subgraph like the four areas, but always in the
 * gateway's own process, because the gateway authenticates with it (docs/decisions/0003-identity-in-the-gateway.md).
 */
export const identity: Subgraph = {
  name: 'identity',
  entities: [Organization, Vault, Workspace, User, ApiKey],
  resolvers: [OrganizationResolver, VaultResolver, WorkspaceResolver, UserResolver, ApiKeyResolver, ExportResolver],
  references: {
    Organization: loadOrganization,
    Vault: loadVault,
    Workspace: loadWorkspace,
    User: loadUser,
  } satisfies Record<string, (reference: { id: string }, ctx: Context<Closable>) => unknown>,
  operations: [getOrganization, getUser, listWorkspaces, createApiKey, listApiKeys, revokeApiKey, startFullExport, getExport],
  migrations: [identityMigration, signInMigration, oauthMigration],
  openPorts: async () => ({ close: async () => {} }),
  exports: identityExports,
  jobs: () => [every(60, 'identity.forget-archives', forgetArchives), every(60, 'identity.forget-oauth-records', forgetOauthRecords)],
};
