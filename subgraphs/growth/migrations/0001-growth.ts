import type { Migration } from '#platform/database/migrator.ts';

export const growthMigration: Migration = {
  name: 'growth/0001-growth',
  sql: `
    create schema if not exists growth;

    create table growth.system (
      id bigint generated always as identity primary key,
      organization_id text not null,
      name text not null,
      unique (organization_id, id)
    );

    create table growth.track (
      id bigint generated always as identity primary key,
      organization_id text not null,
      system_id bigint not null,
      name text not null,
      state text not null check (state in ('draft', 'active', 'archived')),
      created_at timestamptz not null,
      -- A track's system is its own organization's.
      foreign key (organization_id, system_id) references growth.system (organization_id, id)
    );
    create index track_list on growth.track (organization_id, id);
  `,
};
