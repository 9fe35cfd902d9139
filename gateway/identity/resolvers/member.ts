import { Arg, Args, ArgsType, Ctx, Field, GraphQLISODateTime, ID, InputType, Int, Mutation, ObjectType, Query, Resolver } from 'type-graphql';
import type { Context } from '#platform/context.ts';
import type { Page } from '#platform/page.ts';
import { connectionType } from '#platform/subgraph/connection-type.ts';
import { PageArgs } from '#platform/subgraph/page-args.ts';
import { Member, WorkspaceRole } from '../entities/member.ts';
import { createUser } from '../operations/create-user.ts';
import type { UserReceipt } from '../operations/create-user.ts';
import { listMembers } from '../operations/list-members.ts';
import { removeMember } from '../operations/remove-member.ts';
import type { RemoveMemberReceipt } from '../operations/remove-member.ts';
import { setMember } from '../operations/set-member.ts';

const MemberConnection = connectionType('Member', Member);

@ArgsType()
class MembersArgs extends PageArgs {
  @Field(() => ID, { nullable: true })
  workspaceId?: string | null;
}

@InputType()
class CreateUserInput {
  @Field(() => String)
  email!: string;

  @Field(() => String)
  name!: string;

  @Field(() => String, { nullable: true, description: 'architect or sovereign; only a Sovereign gives it.' })
  organizationRole?: 'architect' | 'sovereign' | null;
}

@ObjectType({ description: 'A new user. `password` is shown here and never again.' })
class CreatedUser implements UserReceipt {
  @Field(() => ID)
  id!: string;

  @Field(() => Int)
  numericId!: number;

  @Field(() => String)
  email!: string;

  @Field(() => String)
  name!: string;

  @Field(() => String, { nullable: true })
  organizationRole!: string | null;

  @Field(() => GraphQLISODateTime)
  createdAt!: string;

  @Field(() => String)
  password!: string;
}

@ObjectType()
class RemovedMember implements RemoveMemberReceipt {
  @Field(() => ID)
  userId!: string;

  @Field(() => ID)
  workspaceId!: string;

  @Field(() => String)
  status!: 'removed';
}

@Resolver()
export class MemberResolver {
  @Query(() => MemberConnection, { description: "Who has a role in a workspace; the credential's own by default." })
  members(@Ctx() ctx: Context, @Args(() => MembersArgs) input: MembersArgs): Promise<Page<Member>> {
    return listMembers(ctx, input);
  }

  @Mutation(() => Member)
  setMember(
    @Ctx() ctx: Context,
    @Arg('userId', () => ID) userId: string,
    @Arg('role', () => WorkspaceRole) role: WorkspaceRole,
    @Arg('workspaceId', () => ID, { nullable: true }) workspaceId?: string | null,
  ): Promise<Member> {
    return setMember(ctx, { userId, role, workspaceId });
  }

  @Mutation(() => RemovedMember)
  removeMember(@Ctx() ctx: Context, @Arg('userId', () => ID) userId: string, @Arg('workspaceId', () => ID, { nullable: true }) workspaceId?: string | null): Promise<RemovedMember> {
    return removeMember(ctx, { userId, workspaceId });
  }

  @Mutation(() => CreatedUser)
  createUser(@Ctx() ctx: Context, @Arg('input', () => CreateUserInput) input: CreateUserInput): Promise<CreatedUser> {
    return createUser(ctx, input);
  }
}
