import { createHash } from 'node:crypto';
import { BigIntType } from '@mikro-orm/core';
import { GraphQLJSONObject } from 'graphql-scalars';
import { Directive, Field, GraphQLISODateTime, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import type { Transitions } from '#platform/state-machine.ts';
import { Vault } from './vault.ts';
import { Workspace } from './workspace.ts';

export enum MemoryStatus {
  STORED = 'stored',
  ARCHIVED = 'archived',
  DELETED = 'deleted',
}
registerEnumType(MemoryStatus, { name: 'MemoryStatus' });

/** Archived objects come back by restore, deleted ones never; what follows deletion is removal for good. */
export const memoryTransitions: Transitions<MemoryStatus> = {
  [MemoryStatus.STORED]: [MemoryStatus.ARCHIVED, MemoryStatus.DELETED],
  [MemoryStatus.ARCHIVED]: [MemoryStatus.STORED, MemoryStatus.DELETED],
  [MemoryStatus.DELETED]: [],
};

export enum ProcessingStatus {
  PENDING = 'pending',
  COMPLETED = 'completed',
}
registerEnumType(ProcessingStatus, { name: 'ProcessingStatus' });

@ObjectType({ description: 'How far background processing has come.' })
export class MemoryProcessing {
  @Field(() => ProcessingStatus)
  embeddingStatus!: ProcessingStatus;

  @Field(() => ProcessingStatus)
  entityExtractionStatus!: ProcessingStatus;

  @Field(() => [String], { nullable: true, description: 'Names, dates, amounts and addresses found in the content; null until extraction has completed.' })
  entities!: string[] | null;
}

/** Embedding and extraction are one step, so they complete together; `entities` is null before. */
export const processingOf = (entities: string[] | null): MemoryProcessing => {
  const status = entities === null ? ProcessingStatus.PENDING : ProcessingStatus.COMPLETED;
  return { embeddingStatus: status, entityExtractionStatus: status, entities };
};

/** Arbitrary keys; category, department, source (strings) and tags (strings) are known and can be filtered on. */
export type MemoryMetadata = Readonly<Record<string, unknown>>;

@Entity({ schema: 'memory', tableName: 'object' })
@ObjectType({ description: 'A piece of text that an organization remembers.' })
@Directive('@key(fields: "id")')
export class MemoryObject {
  @PrimaryKey({ type: 'text' })
  @Field(() => ID)
  id!: string;

  /** Number of this version of the content. */
  @Property({ type: new BigIntType('number') })
  seq!: number;

  @Property({ type: 'text', fieldName: 'organization_id' })
  organizationId!: string;

  @Property({ type: 'text', fieldName: 'vault_id' })
  vaultId!: string;

  @Property({ type: 'text', fieldName: 'workspace_id' })
  workspaceId!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  content!: string;

  @Property({ type: 'blob', fieldName: 'content_hash' })
  contentDigest!: Buffer;

  @Property({ type: 'int', fieldName: 'byte_size' })
  @Field(() => Int, { description: 'Size of the content in bytes of UTF-8.' })
  byteSize!: number;

  @Property({ type: 'json' })
  @Field(() => GraphQLJSONObject)
  metadata!: MemoryMetadata;

  @Property({ type: 'text' })
  @Field(() => MemoryStatus)
  status!: MemoryStatus;

  @Property({ type: 'timestamptz', fieldName: 'created_at' })
  @Field(() => GraphQLISODateTime)
  createdAt!: Date;

  @Property({ type: 'timestamptz', fieldName: 'updated_at', nullable: true })
  @Field(() => GraphQLISODateTime, { nullable: true, description: 'Null when never updated.' })
  updatedAt!: Date | null;

  @Property({ type: 'timestamptz', fieldName: 'archived_at', nullable: true })
  @Field(() => GraphQLISODateTime, { nullable: true })
  archivedAt!: Date | null;

  @Property({ type: 'timestamptz', fieldName: 'deleted_at', nullable: true })
  deletedAt!: Date | null;

  @Property({ type: 'timestamptz', fieldName: 'expires_at', nullable: true })
  @Field(() => GraphQLISODateTime, { nullable: true, description: 'When it will be archived by itself.' })
  expiresAt!: Date | null;

  @Property({ persist: false, type: 'json' })
  @Field(() => MemoryProcessing)
  processing!: MemoryProcessing;

  // Not columns; what reads objects fills them in. No getters: type-graphql would make an instance for each to read it from.

  @Field(() => String, { description: '`sha256:` and the hex digest of the content.' })
  contentHash!: string;

  @Field(() => Vault)
  vault!: Vault;

  @Field(() => Workspace)
  workspace!: Workspace;
}

/** A digest as the contract writes it. */
export const hashOf = (digest: Buffer): string => `sha256:${digest.toString('hex')}`;

export const digestOf = (content: string): Buffer => createHash('sha256').update(content, 'utf8').digest();
