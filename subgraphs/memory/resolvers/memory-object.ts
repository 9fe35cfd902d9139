import { GraphQLJSON, GraphQLJSONObject } from 'graphql-scalars';
import { Arg, Args, Ctx, Field, GraphQLISODateTime, ID, InputType, Int, Mutation, ObjectType, Query, Resolver, Subscription } from 'type-graphql';
import type { Context } from '#platform/context.ts';
import type { Page } from '#platform/page.ts';
import { connectionType } from '#platform/subgraph/connection-type.ts';
import { PageArgs } from '#platform/subgraph/page-args.ts';
import { MemoryObject, MemoryProcessing, MemoryStatus } from '../entities/memory-object.ts';
import type { MemoryMetadata } from '../entities/memory-object.ts';
import { batchStoreMemory } from '../operations/batch-store-memory.ts';
import type { BatchReceipt, BatchResult } from '../operations/batch-store-memory.ts';
import { deleteMemory } from '../operations/delete-memory.ts';
import type { DeleteReceipt } from '../operations/delete-memory.ts';
import { getMemory } from '../operations/get-memory.ts';
import { listMemories } from '../operations/list-memories.ts';
import type { ObjectReceipt } from '../operations/object-receipt.ts';
import { restoreMemory } from '../operations/restore-memory.ts';
import { storeMemory } from '../operations/store-memory.ts';
import type { StoreReceipt } from '../operations/store-objects.ts';
import { updateMemory } from '../operations/update-memory.ts';
import type { MemoryPorts } from '../ports/ports.ts';

export const MemoryObjectConnection = connectionType('MemoryObject', MemoryObject);

type MemoryContext = Context<MemoryPorts>;

@InputType()
class StoreMemoryInput {
  @Field(() => String, { description: 'At most 1,048,576 bytes of UTF-8.' })
  content!: string;

  @Field(() => GraphQLJSONObject, { nullable: true, description: 'Any keys; category, department, source (strings) and tags (strings) can be filtered on.' })
  metadata?: Record<string, unknown> | null;

  @Field(() => ID, { nullable: true, description: "By default the credential's own workspace." })
  workspaceId?: string | null;

  @Field(() => Int, { nullable: true, description: 'Archive it by itself after so many seconds.' })
  ttlSeconds?: number | null;

  @Field(() => String, { nullable: true, description: 'Stands for the Idempotency-Key header, and counts before it.' })
  idempotencyKey?: string | null;
}

@InputType()
class UpdateMemoryInput {
  @Field(() => ID)
  id!: string;

  @Field(() => String, { nullable: true })
  content?: string;

  @Field(() => GraphQLJSONObject, { nullable: true, description: 'A JSON Merge Patch (RFC 7396): null removes a key.' })
  metadata?: Record<string, unknown> | null;
}

@ObjectType({ description: 'What storing made.' })
class StoredMemory implements StoreReceipt {
  @Field(() => ID)
  id!: string;

  @Field(() => MemoryStatus)
  status!: MemoryStatus;

  @Field(() => ID)
  vaultId!: string;

  @Field(() => ID)
  workspaceId!: string;

  @Field(() => GraphQLISODateTime)
  createdAt!: string;

  @Field(() => String)
  contentHash!: string;

  @Field(() => Int)
  byteSize!: number;

  @Field(() => GraphQLJSONObject)
  metadata!: MemoryMetadata;

  @Field(() => MemoryProcessing)
  processing!: MemoryProcessing;
}

@ObjectType({ description: 'Why one element of a batch was not stored.' })
class BatchError {
  @Field(() => String)
  code!: string;

  @Field(() => String)
  message!: string;

  @Field(() => ID, { nullable: true, description: 'The object that holds the same content.' })
  existingId!: string | null;
}

@ObjectType()
class BatchStoreResult implements BatchResult {
  @Field(() => Int)
  index!: number;

  @Field(() => ID, { nullable: true })
  id!: string | null;

  @Field(() => String, { description: '"stored" or "failed".' })
  status!: 'stored' | 'failed';

  @Field(() => BatchError, { nullable: true })
  error!: BatchError | null;
}

@ObjectType()
class BatchStore implements BatchReceipt {
  @Field(() => Int)
  stored!: number;

  @Field(() => Int)
  failed!: number;

  @Field(() => [BatchStoreResult], { description: 'In the order of the request.' })
  results!: BatchStoreResult[];
}

@ObjectType({ description: 'An object as a change left it.' })
class ChangedMemory implements ObjectReceipt {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  content!: string;

  @Field(() => String)
  contentHash!: string;

  @Field(() => Int)
  byteSize!: number;

  @Field(() => GraphQLJSONObject)
  metadata!: MemoryMetadata;

  @Field(() => ID)
  vaultId!: string;

  @Field(() => ID)
  workspaceId!: string;

  @Field(() => MemoryStatus)
  status!: MemoryStatus;

  @Field(() => GraphQLISODateTime)
  createdAt!: string;

  @Field(() => GraphQLISODateTime, { nullable: true })
  updatedAt!: string | null;

  @Field(() => GraphQLISODateTime, { nullable: true })
  expiresAt!: string | null;

  @Field(() => MemoryProcessing)
  processing!: MemoryProcessing;
}

@ObjectType()
class DeletedMemory implements DeleteReceipt {
  @Field(() => ID)
  id!: string;

  @Field(() => MemoryStatus)
  status!: MemoryStatus;

  @Field(() => GraphQLISODateTime)
  deletedAt!: string;
}

@Resolver(() => MemoryObject)
export class MemoryObjectResolver {
  @Query(() => MemoryObject, { description: 'One object by its id, old or new.' })
  memory(@Ctx() ctx: MemoryContext, @Arg('id', () => ID) id: string): Promise<MemoryObject> {
    return getMemory(ctx, { id });
  }

  @Query(() => MemoryObjectConnection, { description: 'The live objects of a workspace, newest first.' })
  memories(
    @Ctx() ctx: MemoryContext,
    @Args(() => PageArgs) page: PageArgs,
    @Arg('workspaceId', () => ID, { nullable: true }) workspaceId: string | null,
  ): Promise<Page<MemoryObject>> {
    return listMemories(ctx, { ...page, workspaceId });
  }

  @Mutation(() => StoredMemory)
  storeMemory(@Ctx() ctx: MemoryContext, @Arg('input', () => StoreMemoryInput) input: StoreMemoryInput): Promise<StoreReceipt> {
    return storeMemory(ctx, input);
  }

  @Mutation(() => BatchStore, { description: 'Up to 100 objects, each shaped like StoreMemoryInput. What is invalid or a duplicate is reported; all others are stored together.' })
  batchStoreMemory(@Ctx() ctx: MemoryContext, @Arg('memories', () => [GraphQLJSON], { nullable: 'items' }) memories: unknown[]): Promise<BatchReceipt> {
    return batchStoreMemory(ctx, { memories });
  }

  @Mutation(() => ChangedMemory)
  updateMemory(@Ctx() ctx: MemoryContext, @Arg('input', () => UpdateMemoryInput) input: UpdateMemoryInput): Promise<ObjectReceipt> {
    return updateMemory(ctx, input);
  }

  @Mutation(() => DeletedMemory, { description: 'Out of search at once, removed for good after the retention period.' })
  deleteMemory(@Ctx() ctx: MemoryContext, @Arg('id', () => ID) id: string): Promise<DeleteReceipt> {
    return deleteMemory(ctx, { id });
  }

  /** Never called here: the gateway asks the query `memory` at each event (LiveField). */
  @Subscription(() => MemoryObject, { topics: 'memory.processed', description: 'The object when its processing is done; at once when it is done already.' })
  memoryProcessed(@Ctx() ctx: MemoryContext, @Arg('id', () => ID) id: string): Promise<MemoryObject> {
    return getMemory(ctx, { id });
  }

  @Mutation(() => ChangedMemory, { description: 'Brings an archived object back.' })
  restoreMemory(@Ctx() ctx: MemoryContext, @Arg('id', () => ID) id: string): Promise<ObjectReceipt> {
    return restoreMemory(ctx, { id });
  }
}
