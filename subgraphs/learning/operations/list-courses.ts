import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { entitySource } from '#platform/database/entity-source.ts';
import { query } from '#platform/operation.ts';
import { pageInput, pageOf } from '#platform/page.ts';
import type { Page } from '#platform/page.ts';
import { Course, CourseLevel, Discipline, isVisibleTo } from '../entities/course.ts';

/** The platform's catalogue and, with a credential, the courses of the caller's organization. */
export const listCourses = query({
  name: 'listCourses',
  requires: 'public',
  input: z.strictObject({ ...pageInput, discipline: z.enum(Discipline).nullish(), level: z.enum(CourseLevel).nullish() }),
  run: (ctx: Context, { discipline, level, ...page }): Promise<Page<Course>> => {
    const filter = { ...(discipline && { discipline }), ...(level && { level }) };
    const source = entitySource(ctx.em, Course, { ...isVisibleTo(ctx.principal), ...filter });
    return pageOf(ctx, ['listCourses', filter], page, { byDefault: 25, max: 100 }, source);
  },
});
