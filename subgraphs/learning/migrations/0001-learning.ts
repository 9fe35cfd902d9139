import type { Migration } from '#platform/database/migrator.ts';

export const learningMigration: Migration = {
  name: 'learning/0001-learning',
  sql: `
    create schema if not exists learning;

    create table learning.course (
      id text collate "C" primary key,
      slug text not null unique,
      organization_id text,
      title text not null,
      summary text not null,
      discipline text not null check (discipline in ('Cells', 'Ops', 'Care', 'Dev')),
      role text not null,
      level text not null check (level in ('foundational', 'proficient', 'advanced', 'master')),
      published_at timestamptz,
      created_at timestamptz not null
    );

    create table learning.enrollment (
      id text collate "C" primary key,
      organization_id text not null,
      user_id text not null,
      course_slug text not null references learning.course (slug),
      state text not null check (state in ('active', 'completed')),
      enrolled_at timestamptz not null,
      completed_at timestamptz,
      unique (user_id, course_slug),
      check ((state = 'completed') = (completed_at is not null))
    );
  `,
};
