import type { Migration } from '../database/migrator.ts';

export const exportsMigration: Migration = {
  name: 'platform/0002-exports',
  sql: `
    create table platform.export (
      id text collate "C" primary key,
      organization_id text not null,
      state text not null check (state in ('queued', 'running', 'succeeded', 'failed')),
      created_at timestamptz not null,
      expires_at timestamptz,
      check ((state = 'succeeded') = (expires_at is not null))
    );

    -- What one area gives. An attempt writes only while the number here is its own.
    create table platform.export_part (
      export_id text collate "C" not null references platform.export on delete cascade,
      area text collate "C" not null,
      attempt int not null default 0,
      rows_total bigint,
      rows_written bigint not null default 0,
      is_finished boolean not null default false,
      primary key (export_id, area)
    );

    -- The archive: gzip members, in the order of area and number.
    create table platform.export_chunk (
      export_id text collate "C" not null,
      area text collate "C" not null,
      number int not null,
      bytes bytea not null,
      primary key (export_id, area, number),
      foreign key (export_id, area) references platform.export_part on delete cascade
    );
    -- Compressed already.
    alter table platform.export_chunk alter column bytes set storage external;
  `,
};
