import type { Migration } from '../database/migrator.ts';

export const platformMigration: Migration = {
  name: 'platform/0001-platform',
  sql: `
    create schema if not exists platform;

    -- Keys of this installation, shared by all its processes.
    create table platform.secret (
      name text primary key,
      value bytea not null
    );

    -- Receipts of writes that carried an Idempotency-Key. The key itself is not here: the receipt is encrypted under it.
    create table platform.idempotency (
      digest bytea primary key,
      fingerprint text not null,
      receipt bytea not null,
      created_at timestamptz not null
    );
    create index idempotency_created_at on platform.idempotency (created_at);

    -- What happened, recorded by the transaction that did it. One row may speak of many subjects (a batch of 100 is one row).
    create table platform.event (
      id bigint generated always as identity primary key,
      type text not null,
      organization_id text not null,
      vault_id text,
      workspace_id text,
      subject_ids text[] not null,
      created_at timestamptz not null
    );
    create index event_organization on platform.event (organization_id, created_at);
  `,
};
