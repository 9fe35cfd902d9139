import { Arg, Ctx, Field, ID, Mutation, ObjectType, Resolver } from 'type-graphql';
import type { Context } from '#platform/context.ts';
import { createPublisher } from '../operations/create-publisher.ts';
import type { PublisherReceipt } from '../operations/create-publisher.ts';

@ObjectType({ description: 'A new publisher. `token` is shown here and never again.' })
class CreatedPublisher implements PublisherReceipt {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  slug!: string;

  @Field(() => String)
  name!: string;

  @Field(() => String)
  token!: string;
}

@Resolver()
export class PublisherResolver {
  @Mutation(() => CreatedPublisher)
  createPublisher(@Ctx() ctx: Context, @Arg('name', () => String) name: string, @Arg('slug', () => String) slug: string): Promise<CreatedPublisher> {
    return createPublisher(ctx, { name, slug });
  }
}
