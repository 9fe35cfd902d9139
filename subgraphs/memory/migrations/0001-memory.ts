import type { Migration } from '#platform/database/migrator.ts';

export const memoryMigration: Migration = {
  name: 'memory/0001-memory',
  sql: `
    create schema if not exists memory;

    -- Numbers the versions of contents. Passages and postings name the number they were made from.
    create sequence memory.content_seq;

    create table memory.object (
      id text collate "C" primary key,
      seq bigint not null unique default nextval('memory.content_seq'),
      organization_id text not null,
      vault_id text not null,
      workspace_id text not null,
      content text not null,
      content_hash bytea not null,
      byte_size int not null,
      metadata jsonb not null,
      category text generated always as (metadata ->> 'category') stored,
      department text generated always as (metadata ->> 'department') stored,
      tags jsonb generated always as (metadata -> 'tags') stored,
      status text not null default 'stored' check (status in ('stored', 'archived', 'deleted')),
      created_at timestamptz not null,
      updated_at timestamptz,
      archived_at timestamptz,
      deleted_at timestamptz,
      expires_at timestamptz
    );
    -- Money's cousin: two live objects with one content cannot be, whatever the code does (decisions 6).
    create unique index object_live_content on memory.object (workspace_id, content_hash) where status = 'stored';
    create index object_list on memory.object (workspace_id, id) where status = 'stored';
    create index object_category on memory.object (workspace_id, category) where category is not null;
    create index object_department on memory.object (workspace_id, department) where department is not null;
    create index object_tags on memory.object using gin (tags jsonb_path_ops);
    create index object_expires on memory.object (expires_at) where status = 'stored' and expires_at is not null;
    create index object_purge on memory.object (deleted_at) where status = 'deleted';

    -- A row says that the content numbered seq was embedded and searched for entities; no row means pending.
    create table memory.processing (
      object_id text collate "C" primary key references memory.object on delete cascade,
      seq bigint not null,
      entities text[] not null,
      completed_at timestamptz not null
    );

    -- A stretch of an object's content and its vector. Rows fit a page without TOAST, so that an exact scan reads them in order.
    create table memory.passage (
      id bigint generated always as identity primary key,
      object_id text collate "C" not null references memory.object on delete cascade,
      seq bigint not null,
      workspace_id text not null,
      start_offset int not null,
      end_offset int not null,
      model text not null,
      embedding vector not null,
      -- In the approximate index; set a few rows at a time by the index-vectors job, for large workspaces only.
      approximate boolean not null default false
    );
    create index passage_object on memory.passage (object_id);
    create index passage_scan on memory.passage (workspace_id, approximate);

    -- The keyword index: immutable segments per workspace.
    create table memory.keyword_segment (
      id bigint generated always as identity primary key,
      workspace_id text not null,
      documents int not null,
      tokens bigint not null,
      dictionary bytea not null,
      postings bytea not null
    );
    -- External: substring() then reads only the pages it needs.
    alter table memory.keyword_segment alter column postings set storage external;
    create index keyword_segment_workspace on memory.keyword_segment (workspace_id);

    -- Ids from before release 2.0.0.
    create table memory.object_alias (
      old_id text collate "C" not null,
      organization_id text not null,
      object_id text collate "C" not null references memory.object on delete cascade,
      primary key (organization_id, old_id)
    );
    create index object_alias_object on memory.object_alias (object_id);

    -- Frozen results that cursors walk. The same results of the same question are one row.
    create table memory.ranking (
      digest bytea primary key,
      results bytea not null,
      expires_at timestamptz not null
    );
    create index ranking_expires on memory.ranking (expires_at);

    create table memory.purged (
      workspace_id text primary key,
      objects bigint not null
    );
  `,
};
