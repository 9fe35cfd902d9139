import type { Migration } from '#platform/database/migrator.ts';

export const storedBytesMigration: Migration = {
  name: 'memory/0002-stored-bytes',
  sql: `
    -- What the contents that an organization has stored amount to; kept by triggers, and only while there is a quota of it.
    create table memory.stored_bytes (
      organization_id text collate "C" primary key,
      bytes bigint not null
    );

    create function memory.add_stored_bytes() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' then
        insert into memory.stored_bytes as known (organization_id, bytes)
        select organization_id, sum(byte_size) from added where status = 'stored' group by organization_id order by organization_id
            on conflict (organization_id) do update set bytes = known.bytes + excluded.bytes;
      elsif tg_op = 'DELETE' then
        insert into memory.stored_bytes as known (organization_id, bytes)
        select organization_id, -sum(byte_size) from removed where status = 'stored' group by organization_id order by organization_id
            on conflict (organization_id) do update set bytes = known.bytes + excluded.bytes;
      else
        insert into memory.stored_bytes as known (organization_id, bytes)
        select organization_id, sum(bytes)
          from (select organization_id, byte_size as bytes from added where status = 'stored'
                union all select organization_id, -byte_size from removed where status = 'stored') as changed
         group by organization_id having sum(bytes) <> 0 order by organization_id
            on conflict (organization_id) do update set bytes = known.bytes + excluded.bytes;
      end if;
      return null;
    end $$;
  `,
};
