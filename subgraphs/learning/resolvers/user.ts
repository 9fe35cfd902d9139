import { Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { Context } from '#platform/context.ts';
import type { Page } from '#platform/page.ts';
import { connectionType } from '#platform/subgraph/connection-type.ts';
import { PageArgs } from '#platform/subgraph/page-args.ts';
import { Enrollment } from '../entities/enrollment.ts';
import { User } from '../entities/user.ts';
import { listEnrollments } from '../operations/list-enrollments.ts';

const EnrollmentConnection = connectionType('Enrollment', Enrollment);

@Resolver(() => User)
export class UserResolver {
  // Nullable, so that a refusal takes this field only and not the whole user.
  @FieldResolver(() => EnrollmentConnection, { nullable: true, description: 'What the user learns, newest first; for the user, and for an Architect of the same organization.' })
  enrollments(@Root() user: User, @Ctx() ctx: Context, @Args(() => PageArgs) page: PageArgs): Promise<Page<Enrollment>> {
    return listEnrollments(ctx, { ...page, userId: user.id });
  }
}
