import { Arg, Ctx, FieldResolver, ID, Query, Resolver, Root } from 'type-graphql';
import type { Context } from '#platform/context.ts';
import { Organization } from '../entities/organization.ts';
import { User } from '../entities/user.ts';
import { getUser } from '../operations/get-user.ts';
import { loadOrganization } from '../references.ts';

@Resolver(() => User)
export class UserResolver {
  @Query(() => User, { description: "A user of the credential's organization." })
  user(@Ctx() ctx: Context, @Arg('id', () => ID) id: string): Promise<User> {
    return getUser(ctx, { id });
  }

  @FieldResolver(() => Organization)
  organization(@Root() user: User, @Ctx() ctx: Context): Promise<Organization | null> {
    return loadOrganization({ id: user.organizationId }, ctx);
  }
}
