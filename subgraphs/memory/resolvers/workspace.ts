import { GraphQLSafeInt } from 'graphql-scalars';
import { Arg, Args, Ctx, Field, FieldResolver, ID, ObjectType, Query, Resolver, Root } from 'type-graphql';
import type { Context } from '#platform/context.ts';
import type { Page } from '#platform/page.ts';
import { PageArgs } from '#platform/subgraph/page-args.ts';
import type { MemoryObject } from '../entities/memory-object.ts';
import { Workspace } from '../entities/workspace.ts';
import { getMemoryStats } from '../operations/get-memory-stats.ts';
import { listMemories } from '../operations/list-memories.ts';
import type { MemoryPorts } from '../ports/ports.ts';
import type { ObjectCounts } from '../queries/count-objects.ts';
import { MemoryObjectConnection } from './memory-object.ts';

@ObjectType({ description: 'How much a workspace holds.' })
class MemoryStats implements ObjectCounts {
  @Field(() => GraphQLSafeInt)
  stored!: number;

  @Field(() => GraphQLSafeInt)
  archived!: number;

  @Field(() => GraphQLSafeInt, { description: 'Deleted and not yet removed for good.' })
  deleted!: number;

  @Field(() => GraphQLSafeInt, { description: 'Removed for good, ever.' })
  purged!: number;

  @Field(() => GraphQLSafeInt, { description: 'Bytes of the contents that are stored or archived.' })
  bytes!: number;
}

@Resolver(() => Workspace)
export class WorkspaceResolver {
  @Query(() => MemoryStats)
  memoryStats(@Ctx() ctx: Context<MemoryPorts>, @Arg('workspaceId', () => ID, { nullable: true }) workspaceId: string | null): Promise<ObjectCounts> {
    return getMemoryStats(ctx, { workspaceId });
  }

  @FieldResolver(() => MemoryObjectConnection, { description: 'The live objects of the workspace, newest first.' })
  memories(@Root() workspace: Workspace, @Ctx() ctx: Context<MemoryPorts>, @Args(() => PageArgs) page: PageArgs): Promise<Page<MemoryObject>> {
    return listMemories(ctx, { ...page, workspaceId: workspace.id });
  }

  @FieldResolver(() => MemoryStats, { name: 'memoryStats' })
  statsOfWorkspace(@Root() workspace: Workspace, @Ctx() ctx: Context<MemoryPorts>): Promise<ObjectCounts> {
    return getMemoryStats(ctx, { workspaceId: workspace.id });
  }
}
