import { Field, GraphQLISODateTime, ID, Int, ObjectType } from 'type-graphql';

@ObjectType({ description: 'One command and what came of it: who, what, when, from where, outcome.' })
export class AuditLogEntry {
  @Field(() => ID)
  id!: string;

  @Field(() => GraphQLISODateTime)
  createdAt!: Date;

  @Field(() => String, { description: 'The kind of credential: api_key, session, oauth, publisher, or password for a sign-in.' })
  actorKind!: string;

  @Field(() => ID, { nullable: true })
  credentialId!: string | null;

  @Field(() => ID, { nullable: true })
  userId!: string | null;

  @Field(() => String)
  operation!: string;

  @Field(() => [String], { description: 'What it was done to, or what came into being.' })
  subjectIds!: string[];

  @Field(() => String, { description: '`succeeded`, or the code of the refusal.' })
  outcome!: string;

  @Field(() => String)
  requestId!: string;

  @Field(() => String, { nullable: true })
  address!: string | null;

  @Field(() => String, { nullable: true })
  userAgent!: string | null;

  @Field(() => Int, { nullable: true, description: "The entry's place in the chain; null until it is sealed, a moment after it was written." })
  sequence!: number | null;

  @Field(() => String, { nullable: true, description: 'SHA-256, hex.' })
  hash!: string | null;
}
