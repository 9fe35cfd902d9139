import { Arg, Args, Ctx, Query, Resolver } from 'type-graphql';
import type { Context } from '#platform/context.ts';
import type { Page } from '#platform/page.ts';
import { connectionType } from '#platform/subgraph/connection-type.ts';
import { PageArgs } from '#platform/subgraph/page-args.ts';
import { Course, CourseLevel, Discipline } from '../entities/course.ts';
import { listCourses } from '../operations/list-courses.ts';

const CourseConnection = connectionType('Course', Course);

@Resolver(() => Course)
export class CourseResolver {
  @Query(() => CourseConnection, { description: "The platform's published courses and, with a credential, those of the caller's organization; newest first." })
  courses(
    @Ctx() ctx: Context,
    @Args(() => PageArgs) page: PageArgs,
    @Arg('discipline', () => Discipline, { nullable: true }) discipline: Discipline | null,
    @Arg('level', () => CourseLevel, { nullable: true }) level: CourseLevel | null,
  ): Promise<Page<Course>> {
    return listCourses(ctx, { ...page, discipline, level });
  }
}
