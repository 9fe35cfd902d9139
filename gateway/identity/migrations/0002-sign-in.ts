import type { Migration } from '#platform/database/migrator.ts';

export const signInMigration: Migration = {
  name: 'identity/0002-sign-in',
  sql: `
    create table identity.session (
      id text collate "C" primary key,
      user_id text not null references identity.user,
      digest bytea not null unique,
      address text,
      user_agent text,
      created_at timestamptz not null,
      last_used_at timestamptz not null,
      expires_at timestamptz not null,
      stepped_up_until timestamptz
    );
    create index session_by_user on identity.session (user_id);
    create index session_expires_at on identity.session (expires_at);

    -- A user's authenticator. What is pending counts from its first right code on; until then the one before does.
    create table identity.totp (
      user_id text primary key references identity.user,
      secret bytea,
      confirmed_at timestamptz,
      -- The 30-second step of the last accepted code: a code is accepted once.
      last_step bigint not null default 0,
      pending_secret bytea,
      pending_recovery_digests bytea[],
      check ((secret is null) = (confirmed_at is null)),
      check ((pending_secret is null) = (pending_recovery_digests is null))
    );

    create table identity.recovery_code (
      user_id text not null references identity.user,
      digest bytea not null,
      used_at timestamptz,
      primary key (user_id, digest)
    );

    -- Tries at a secret that can be guessed: a password of an account, from an address, a code of a user.
    create table identity.failure (
      subject text primary key,
      count int not null check (count > 0),
      counted_since timestamptz not null,
      locked_until timestamptz
    );
    create index failure_counted_since on identity.failure (counted_since);

    create table identity.publisher (
      id text collate "C" primary key,
      organization_id text not null references identity.organization,
      slug text not null unique,
      name text not null,
      created_by text not null references identity.user,
      digest bytea not null unique,
      created_at timestamptz not null
    );
  `,
};
