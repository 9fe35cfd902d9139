import { Arg, Args, Ctx, Field, GraphQLISODateTime, ID, InputType, Mutation, ObjectType, Query, Resolver } from 'type-graphql';
import type { Context } from '#platform/context.ts';
import type { Page } from '#platform/page.ts';
import { connectionType } from '#platform/subgraph/connection-type.ts';
import { PageArgs } from '#platform/subgraph/page-args.ts';
import { ApiKey, ApiKeyLevel } from '../entities/api-key.ts';
import { createApiKey } from '../operations/create-api-key.ts';
import type { ApiKeyReceipt } from '../operations/create-api-key.ts';
import { listApiKeys } from '../operations/list-api-keys.ts';
import { revokeApiKey } from '../operations/revoke-api-key.ts';
import type { RevokeReceipt } from '../operations/revoke-api-key.ts';

const ApiKeyConnection = connectionType('ApiKey', ApiKey);

@InputType()
class CreateApiKeyInput {
  @Field(() => String)
  name!: string;

  @Field(() => ApiKeyLevel)
  level!: ApiKeyLevel;

  @Field(() => ID, { nullable: true, description: "By default the credential's own workspace." })
  workspaceId?: string | null;

  @Field(() => Boolean, { nullable: true })
  serviceAccount?: boolean | null;

  @Field(() => GraphQLISODateTime, { nullable: true, description: 'When the key stops working; by default never.' })
  expiresAt?: Date | null;
}

@ObjectType({ description: 'A new key. `key` is shown here and never again.' })
class CreatedApiKey implements ApiKeyReceipt {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  name!: string;

  @Field(() => ApiKeyLevel)
  level!: ApiKeyLevel;

  @Field(() => ID)
  workspaceId!: string;

  @Field(() => Boolean)
  serviceAccount!: boolean;

  @Field(() => String)
  prefix!: string;

  @Field(() => GraphQLISODateTime)
  createdAt!: string;

  @Field(() => GraphQLISODateTime, { nullable: true })
  expiresAt!: string | null;

  @Field(() => String)
  key!: string;
}

@ObjectType()
class RevokedApiKey implements RevokeReceipt {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  status!: 'revoked';

  @Field(() => GraphQLISODateTime)
  revokedAt!: string;
}

@Resolver(() => ApiKey)
export class ApiKeyResolver {
  @Query(() => ApiKeyConnection, { description: 'The live keys that the credential manages.' })
  apiKeys(@Ctx() ctx: Context, @Args(() => PageArgs) page: PageArgs): Promise<Page<ApiKey>> {
    return listApiKeys(ctx, page);
  }

  @Mutation(() => CreatedApiKey)
  createApiKey(@Ctx() ctx: Context, @Arg('input', () => CreateApiKeyInput) input: CreateApiKeyInput): Promise<CreatedApiKey> {
    return createApiKey(ctx, input);
  }

  @Mutation(() => RevokedApiKey)
  revokeApiKey(@Ctx() ctx: Context, @Arg('id', () => ID) id: string): Promise<RevokedApiKey> {
    return revokeApiKey(ctx, { id });
  }
}
