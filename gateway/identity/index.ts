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
import { forgetSessions } from './jobs/forget-sessions.ts';
import { identityMigration } from './migrations/0001-identity.ts';
import { signInMigration } from './migrations/0002-sign-in.ts';
import { oauthMigration } from './migrations/0003-oauth.ts';
import { changePassword } from './operations/change-password.ts';
import { confirmTotp } from './operations/confirm-totp.ts';
import { createApiKey } from './operations/create-api-key.ts';
import { createPublisher } from './operations/create-publisher.ts';
import { createUser } from './operations/create-user.ts';
import { createWebhook } from './operations/create-webhook.ts';
import { deleteWebhook } from './operations/delete-webhook.ts';
import { enrollTotp } from './operations/enroll-totp.ts';
import { getExport } from './operations/get-export.ts';
import { getOrganization } from './operations/get-organization.ts';
import { getSession } from './operations/get-session.ts';
import { getUser } from './operations/get-user.ts';
import { getWebhook } from './operations/get-webhook.ts';
import { listApiKeys } from './operations/list-api-keys.ts';
import { listAuditLog } from './operations/list-audit-log.ts';
import { listMembers } from './operations/list-members.ts';
import { listWebhookDeliveries } from './operations/list-webhook-deliveries.ts';
import { listWebhooks } from './operations/list-webhooks.ts';
import { listWorkspaces } from './operations/list-workspaces.ts';
import { redeliverWebhook } from './operations/redeliver-webhook.ts';
import { removeMember } from './operations/remove-member.ts';
import { replayWebhook } from './operations/replay-webhook.ts';
import { revokeApiKey } from './operations/revoke-api-key.ts';
import { rotateWebhookSecret } from './operations/rotate-webhook-secret.ts';
import { setMember } from './operations/set-member.ts';
import { signIn } from './operations/sign-in.ts';
import { signOut } from './operations/sign-out.ts';
import { startFullExport } from './operations/start-full-export.ts';
import { stepUp } from './operations/step-up.ts';
import { testWebhook } from './operations/test-webhook.ts';
import { updateWebhook } from './operations/update-webhook.ts';
import { verifyAuditLog } from './operations/verify-audit-log.ts';
import { loadOrganization, loadUser, loadVault, loadWorkspace } from './references.ts';
import { ApiKeyResolver } from './resolvers/api-key.ts';
import { AuditLogResolver } from './resolvers/audit-log.ts';
import { ExportResolver } from './resolvers/export.ts';
import { MemberResolver } from './resolvers/member.ts';
import { OrganizationResolver } from './resolvers/organization.ts';
import { PublisherResolver } from './resolvers/publisher.ts';
import { SessionResolver } from './resolvers/session.ts';
import { UserResolver } from './resolvers/user.ts';
import { VaultResolver } from './resolvers/vault.ts';
import { WebhookResolver } from './resolvers/webhook.ts';
import { WorkspaceResolver } from './resolvers/workspace.ts';

/**
 * Who exists: organizations, vaults, workspaces, users and credentials. A subgraph like the four areas, but always in the
 * gateway's own process, because the gateway authenticates with it (docs/decisions/0003-identity-in-the-gateway.md).
 */
export const identity: Subgraph = {
  name: 'identity',
  entities: [Organization, Vault, Workspace, User, ApiKey],
  resolvers: [OrganizationResolver, VaultResolver, WorkspaceResolver, UserResolver, ApiKeyResolver, ExportResolver, SessionResolver, MemberResolver, PublisherResolver, AuditLogResolver, WebhookResolver],
  references: {
    Organization: loadOrganization,
    Vault: loadVault,
    Workspace: loadWorkspace,
    User: loadUser,
  } satisfies Record<string, (reference: { id: string }, ctx: Context<Closable>) => unknown>,
  operations: [
    getOrganization, getUser, listWorkspaces, createApiKey, listApiKeys, revokeApiKey, startFullExport, getExport,
    signIn, getSession, signOut, stepUp, enrollTotp, confirmTotp, changePassword, createUser, listMembers, setMember, removeMember, createPublisher,
    listAuditLog, verifyAuditLog,
    createWebhook, listWebhooks, getWebhook, updateWebhook, deleteWebhook, rotateWebhookSecret, testWebhook, listWebhookDeliveries, redeliverWebhook, replayWebhook,
  ],
  migrations: [identityMigration, signInMigration, oauthMigration],
  openPorts: async () => ({ close: async () => {} }),
  exports: identityExports,
  jobs: () => [every(60, 'identity.forget-archives', forgetArchives), every(60, 'identity.forget-oauth-records', forgetOauthRecords), every(60, 'identity.forget-sessions', forgetSessions)],
};
