import type { Migration } from '#platform/database/migrator.ts';

export const oauthMigration: Migration = {
  name: 'identity/0003-oauth',
  sql: `
    -- What oidc-provider keeps: clients, grants, and what leads to them and from them. The id of everything that opens
    -- a door (codes, refresh tokens, sign-in pages) is a digest.
    create table identity.oauth_record (
      model text not null,
      id text collate "C" not null,
      grant_id text,
      -- Not jsonb, which has no NUL: what a client sends as its state comes back as it was.
      payload json not null,
      consumed_at timestamptz,
      expires_at timestamptz,
      primary key (model, id)
    );
    create index oauth_record_grant on identity.oauth_record (grant_id) where grant_id is not null;
    create index oauth_record_expires_at on identity.oauth_record (expires_at) where expires_at is not null;
  `,
};
