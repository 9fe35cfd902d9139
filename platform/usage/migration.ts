import type { Migration } from '../database/migrator.ts';

export const usageMigration: Migration = {
  name: 'platform/0005-usage',
  sql: `
    -- What organizations have used of what is counted by the calendar month (UTC).
    create table platform.usage (
      organization_id text collate "C" not null,
      quota text not null check (quota in ('requests_per_month', 'compute_seconds')),
      month date not null,
      amount float8 not null,
      primary key (organization_id, quota, month)
    );
  `,
};
