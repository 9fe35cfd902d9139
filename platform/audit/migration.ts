import type { Migration } from '../database/migrator.ts';

export const auditMigration: Migration = {
  name: 'platform/0003-audit',
  sql: `
    -- Who did what, when, from where, and what came of it: one row for each command, written by the transaction that did it.
    create table platform.audit_entry (
      id bigint generated always as identity primary key,
      organization_id text not null,
      actor_kind text not null,
      credential_id text,
      user_id text,
      operation text not null,
      subject_ids text[] not null,
      outcome text not null,
      request_id text not null,
      address text,
      user_agent text,
      created_at timestamptz not null,
      -- The entry's place in its organization's chain, given a moment after it was written.
      sequence bigint,
      hash bytea,
      check ((sequence is null) = (hash is null))
    );
    create index audit_entry_organization on platform.audit_entry (organization_id, id);
    create unique index audit_entry_sequence on platform.audit_entry (organization_id, sequence) where sequence is not null;
    create index audit_entry_unsealed on platform.audit_entry (id) where sequence is null;

    -- The last sealed entry of each chain: what is cut off the end of a chain is missed here.
    create table platform.audit_head (
      organization_id text primary key,
      sequence bigint not null,
      hash bytea not null
    );

    create function platform.keep_audit_entry() returns trigger language plpgsql as $$
    begin
      if tg_op = 'UPDATE' and old.sequence is null and new.sequence is not null
         and to_jsonb(new) - 'sequence' - 'hash' = to_jsonb(old) - 'sequence' - 'hash' then
        return new;
      end if;
      raise exception 'The audit log is append-only.';
    end $$;
    create trigger audit_entry_append_only before update or delete on platform.audit_entry
      for each row execute function platform.keep_audit_entry();
    create trigger audit_entry_no_truncate before truncate on platform.audit_entry
      for each statement execute function platform.keep_audit_entry();
  `,
};
