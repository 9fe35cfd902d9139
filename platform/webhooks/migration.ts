import type { Migration } from '../database/migrator.ts';

export const webhooksMigration: Migration = {
  name: 'platform/0004-webhooks',
  sql: `
    -- What was recorded before there were webhooks has been seen by all of them.
    alter table platform.event add column relayed boolean not null default true;
    alter table platform.event alter column relayed set default false;
    create index event_unrelayed on platform.event (id) where not relayed;
    create index event_created_at on platform.event (created_at);

    create table platform.webhook (
      id text collate "C" primary key,
      organization_id text not null,
      scope text not null check (scope in ('organization', 'vault', 'workspace')),
      vault_id text,
      workspace_id text,
      url text not null,
      description text,
      events text[] not null,
      state text not null check (state in ('enabled', 'disabled')),
      disabled_reason text check (disabled_reason in ('owner', 'gone', 'failing')),
      failing_since timestamptz,
      secret bytea not null,
      -- Signs beside the new one until then.
      old_secret bytea,
      old_secret_until timestamptz,
      created_by text not null,
      created_at timestamptz not null,
      -- The process that delivers to it, and until when nobody else may.
      lease_owner text,
      leased_until timestamptz,
      check ((scope = 'organization') = (vault_id is null)),
      check ((scope = 'workspace') = (workspace_id is not null)),
      check ((state = 'disabled') = (disabled_reason is not null)),
      check ((old_secret is null) = (old_secret_until is null))
    );
    create index webhook_organization on platform.webhook (organization_id, id);

    -- One event about one subject, as it is sent; whichever webhooks get it, and however often.
    create table platform.webhook_message (
      id text collate "C" primary key,
      event_id bigint not null,
      subject_id text not null,
      type text not null,
      body text not null,
      created_at timestamptz not null
    );
    create index webhook_message_created_at on platform.webhook_message (created_at);

    create table platform.webhook_delivery (
      id text collate "C" primary key,
      webhook_id text collate "C" not null references platform.webhook on delete cascade,
      message_id text collate "C" not null references platform.webhook_message on delete cascade,
      -- The message's, for the order of what one subject waits for.
      event_id bigint not null,
      subject_id text not null,
      state text not null check (state in ('pending', 'delivered', 'failed')),
      attempts int not null default 0,
      next_attempt_at timestamptz,
      last_status int,
      last_error text,
      response_ms int,
      created_at timestamptz not null,
      delivered_at timestamptz,
      unique (message_id, webhook_id),
      check ((state = 'pending') = (next_attempt_at is not null)),
      check (state <> 'delivered' or delivered_at is not null)
    );
    create index webhook_delivery_list on platform.webhook_delivery (webhook_id, id);
    create index webhook_delivery_due on platform.webhook_delivery (webhook_id, next_attempt_at) where state = 'pending';
    create index webhook_delivery_subject on platform.webhook_delivery (webhook_id, subject_id, event_id) where state = 'pending';

    -- Asked for, and how far it has come: everything up to (done_at, done_id) is done.
    create table platform.webhook_replay (
      id bigint generated always as identity primary key,
      webhook_id text collate "C" not null references platform.webhook on delete cascade,
      is_all boolean not null,
      done_at timestamptz not null,
      done_id bigint not null,
      until_id bigint not null
    );
    create index webhook_replay_webhook on platform.webhook_replay (webhook_id);
  `,
};
