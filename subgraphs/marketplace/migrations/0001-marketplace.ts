import type { Migration } from '#platform/database/migrator.ts';

export const marketplaceMigration: Migration = {
  name: 'marketplace/0001-marketplace',
  sql: `
    create schema if not exists marketplace;

    create table marketplace.listing (
      id text collate "C" primary key,
      slug text not null unique,
      name text not null,
      tagline text not null,
      description text not null,
      publisher_name text not null,
      latest_version text,
      pricing jsonb not null check (pricing ->> 'model' in ('free', 'subscription')),
      installs_count int not null default 0 check (installs_count >= 0),
      approved_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      -- What is public can be installed.
      check (approved_at is null or latest_version is not null)
    );

    create table marketplace.install (
      id text collate "C" primary key,
      organization_id text not null,
      slug text not null references marketplace.listing (slug),
      version text not null,
      state text not null check (state in ('queued', 'installing', 'installed', 'updating', 'uninstalling', 'failed')),
      health text check (health in ('healthy', 'degraded', 'failed')),
      created_at timestamptz not null,
      updated_at timestamptz not null,
      unique (organization_id, slug)
    );
  `,
};
