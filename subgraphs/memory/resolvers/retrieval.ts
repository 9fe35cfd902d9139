import { Arg, Ctx, Field, Float, GraphQLISODateTime, ID, InputType, Int, Query, Resolver } from 'type-graphql';
import type { Context } from '#platform/context.ts';
import { Retrieval, RetrievalResult, RetrieveMode } from '../entities/retrieval.ts';
import { getRelatedMemories } from '../operations/get-related-memories.ts';
import { retrieveMemories } from '../operations/retrieve-memories.ts';
import type { MemoryPorts } from '../ports/ports.ts';

@InputType({ description: 'Give q, keyword, or both.' })
class RetrieveMemoriesInput {
  @Field(() => String, { nullable: true, description: 'A question in natural language; searched by meaning.' })
  q?: string | null;

  @Field(() => String, { nullable: true, description: 'Words, tolerant of typos; "quoted" words must stand together.' })
  keyword?: string | null;

  @Field(() => RetrieveMode, { nullable: true, description: 'By default SEMANTIC for q, KEYWORD for keyword, HYBRID for both.' })
  mode?: RetrieveMode | null;

  @Field(() => Int, { nullable: true, description: '1 to 100, by default 10.' })
  limit?: number | null;

  @Field(() => String, { nullable: true })
  cursor?: string | null;

  @Field(() => String, { nullable: true })
  category?: string | null;

  @Field(() => String, { nullable: true })
  department?: string | null;

  @Field(() => [String], { nullable: true, description: 'All of them.' })
  tags?: string[] | null;

  @Field(() => GraphQLISODateTime, { nullable: true, description: 'Exclusive.' })
  createdAfter?: Date | null;

  @Field(() => GraphQLISODateTime, { nullable: true, description: 'Exclusive.' })
  createdBefore?: Date | null;

  @Field(() => ID, { nullable: true })
  workspaceId?: string | null;

  @Field(() => Float, { nullable: true, description: '0 to 1.' })
  minRelevance?: number | null;
}

@Resolver(() => Retrieval)
export class RetrievalResolver {
  @Query(() => Retrieval)
  retrieveMemories(@Ctx() ctx: Context<MemoryPorts>, @Arg('input', () => RetrieveMemoriesInput) input: RetrieveMemoriesInput): Promise<Retrieval> {
    return retrieveMemories(ctx, input);
  }

  @Query(() => [RetrievalResult], { description: 'The objects nearest in meaning to one; none until it has been embedded.' })
  relatedMemories(
    @Ctx() ctx: Context<MemoryPorts>,
    @Arg('id', () => ID) id: string,
    @Arg('limit', () => Int, { nullable: true }) limit: number | null,
  ): Promise<RetrievalResult[]> {
    return getRelatedMemories(ctx, { id, limit });
  }
}
