import type { EntityManager } from '@mikro-orm/core';
import { query } from '#platform/database/query.ts';
import { newId } from '#platform/ids.ts';
import type { Demo } from '#platform/subgraph/subgraph.ts';
import { CourseLevel, Discipline } from './entities/course.ts';

const catalogue = [
  {
    slug: 'writing-for-memory',
    title: 'Writing for Memory',
    summary: 'How to write notes that are found again: one fact to an object, names spelled out, dates in full, and metadata that filters can use.',
    discipline: Discipline.CARE,
    role: 'editor',
    level: CourseLevel.FOUNDATIONAL,
  },
  {
    slug: 'running-extensions',
    title: 'Running Extensions Safely',
    summary: 'Reading the scopes an extension asks for, approving no more than it needs, watching its health, and going back to the version before.',
    discipline: Discipline.OPS,
    role: 'architect',
    level: CourseLevel.PROFICIENT,
  },
  {
    slug: 'building-on-the-graph',
    title: 'Building on the Graph',
    summary: 'Federated queries, signed cursors, idempotent writes and verified webhooks: a client that survives retries, restarts and its own crashes.',
    discipline: Discipline.DEV,
    role: 'developer',
    level: CourseLevel.ADVANCED,
  },
];

export async function seedLearning(em: EntityManager, { now }: Demo): Promise<void> {
  await query(
    em,
    `insert into learning.course (id, slug, title, summary, discipline, role, level, published_at, created_at)
     select id, slug, title, summary, discipline, role, level, $2, $2
       from jsonb_to_recordset($1::jsonb) as row(id text, slug text, title text, summary text, discipline text, role text, level text)
         on conflict (slug) do nothing`,
    [JSON.stringify(catalogue.map((course) => ({ id: newId('course'), ...course }))), now],
  );
}
