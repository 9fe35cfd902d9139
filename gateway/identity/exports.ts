import { tableFile } from '#platform/exports/export-file.ts';

/** Keys without their digests, users and webhooks without their secrets. */
export const identityExports = [
  tableFile({ name: 'identity/organization', from: '(select *, id as organization_id from identity.organization) as organization', columns: 'id, name, plan, created_at' }),
  tableFile({ name: 'identity/vaults', from: 'identity.vault', columns: 'id, name, created_at' }),
  tableFile({ name: 'identity/workspaces', from: 'identity.workspace', columns: 'id, vault_id, name, is_default, created_at' }),
  tableFile({ name: 'identity/users', from: 'identity.user', columns: 'id, numeric_id, email, name, organization_role, created_at' }),
  tableFile({
    name: 'identity/members',
    from: 'identity.member join identity.workspace on workspace.id = member.workspace_id',
    columns: 'member.workspace_id, member.user_id, member.role',
    key: `(member.workspace_id || ' ' || member.user_id) collate "C"`,
  }),
  tableFile({
    name: 'identity/api-keys',
    from: 'identity.api_key',
    columns: 'id, vault_id, workspace_id, name, level, service_account, prefix, created_by, created_at, expires_at, revoked_at',
  }),
  tableFile({ name: 'identity/publishers', from: 'identity.publisher', columns: 'id, slug, name, created_by, created_at' }),
  tableFile({
    name: 'identity/oauth-clients',
    from: `(select id, payload ->> 'organization_id' as organization_id, payload ->> 'client_name' as name, payload -> 'redirect_uris' as redirect_uris from identity.oauth_record where model = 'Client') as client`,
    columns: 'id, name, redirect_uris',
  }),
  tableFile({
    name: 'identity/oauth-grants',
    from: `(select granted.id, organization_id, payload ->> 'accountId' as user_id, payload ->> 'clientId' as client_id, payload -> 'resources' as scopes
              from identity.oauth_record as granted join identity.user on "user".id = payload ->> 'accountId' where model = 'Grant') as granted`,
    columns: 'id, user_id, client_id, scopes',
  }),
  tableFile({
    name: 'identity/audit-log',
    from: 'platform.audit_entry',
    columns: `id, organization_id, created_at, actor_kind, credential_id, user_id, operation, subject_ids, outcome, request_id, address, user_agent, sequence, encode(hash, 'hex') as hash`,
    first: 0,
  }),
  tableFile({
    name: 'identity/webhooks',
    from: 'platform.webhook',
    columns: 'id, scope, vault_id, workspace_id, url, description, events, state, disabled_reason, failing_since, created_by, created_at',
  }),
];
