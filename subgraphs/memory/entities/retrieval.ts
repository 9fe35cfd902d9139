import { GraphQLJSONObject } from 'graphql-scalars';
import { Field, Float, GraphQLISODateTime, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import type { MemoryMetadata } from './memory-object.ts';

export enum RetrieveMode {
  SEMANTIC = 'semantic',
  KEYWORD = 'keyword',
  HYBRID = 'hybrid',
}
registerEnumType(RetrieveMode, { name: 'RetrieveMode', description: 'By meaning, by words, or by both.' });

@ObjectType()
export class RetrievalResult {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  content!: string;

  @Field(() => Float, { description: '0 to 1; comparable within a mode, falling with rank.' })
  relevanceScore!: number;

  @Field(() => GraphQLJSONObject)
  metadata!: MemoryMetadata;

  @Field(() => GraphQLISODateTime)
  createdAt!: Date;

  @Field(() => [String], { description: "Passages of the object's own text, HTML-escaped, matched words in <em>." })
  highlights!: string[];
}

@ObjectType()
export class Retrieval {
  @Field(() => String)
  query!: string;

  @Field(() => RetrieveMode)
  mode!: RetrieveMode;

  @Field(() => [RetrievalResult])
  results!: RetrievalResult[];

  @Field(() => Int, { description: 'Results of all pages; the same on every page. A ranking is at most 1,000 deep; by meaning, in workspaces of more than 20,000 passages, 400.' })
  total!: number;

  @Field(() => Boolean)
  hasMore!: boolean;

  @Field(() => String, { nullable: true })
  nextCursor!: string | null;

  @Field(() => Int)
  tookMs!: number;
}
