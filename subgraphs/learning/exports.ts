import { tableFile } from '#platform/exports/export-file.ts';

/** Courses of the organization's own; the catalogue is everybody's. */
export const learningExports = [
  tableFile({ name: 'learning/courses', from: 'learning.course', columns: 'id, slug, title, summary, discipline, role, level, published_at, created_at' }),
  tableFile({ name: 'learning/enrollments', from: 'learning.enrollment', columns: 'id, user_id, course_slug, state, enrolled_at, completed_at' }),
];
