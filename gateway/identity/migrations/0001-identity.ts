import type { Migration } from '#platform/database/migrator.ts';

export const identityMigration: Migration = {
  name: 'identity/0001-identity',
  sql: `
    create schema if not exists identity;

    create table identity.organization (
      id text collate "C" primary key,
      name text not null,
      plan text not null check (plan in ('free', 'pro', 'team', 'business', 'enterprise', 'sovereign')),
      created_at timestamptz not null
    );

    create table identity.vault (
      id text collate "C" primary key,
      organization_id text not null references identity.organization,
      name text not null,
      created_at timestamptz not null,
      unique (organization_id, name)
    );

    create table identity.workspace (
      id text collate "C" primary key,
      organization_id text not null references identity.organization,
      vault_id text not null references identity.vault,
      name text not null,
      is_default boolean not null,
      created_at timestamptz not null,
      unique (vault_id, name)
    );
    create unique index workspace_default on identity.workspace (organization_id) where is_default;

    create table identity.user (
      id text collate "C" primary key,
      numeric_id bigint generated always as identity unique,
      organization_id text not null references identity.organization,
      email text not null,
      name text not null,
      password_hash text,
      organization_role text check (organization_role in ('architect', 'sovereign')),
      created_at timestamptz not null
    );
    create unique index user_email on identity.user (lower(email));
    create index user_organization on identity.user (organization_id);

    create table identity.member (
      workspace_id text not null references identity.workspace,
      user_id text not null references identity.user,
      role text not null check (role in ('viewer', 'editor', 'admin', 'owner')),
      primary key (workspace_id, user_id)
    );
    create index member_user on identity.member (user_id);

    create table identity.api_key (
      id text collate "C" primary key,
      organization_id text not null references identity.organization,
      vault_id text not null references identity.vault,
      workspace_id text not null references identity.workspace,
      name text not null,
      level text not null check (level in ('read-only', 'read-write', 'admin')),
      service_account boolean not null,
      prefix text not null,
      digest bytea not null unique,
      created_by text,
      created_at timestamptz not null,
      expires_at timestamptz,
      revoked_at timestamptz
    );
    create index api_key_organization on identity.api_key (organization_id, id);
  `,
};
