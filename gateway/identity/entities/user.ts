import { BigIntType } from '@mikro-orm/core';
import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, GraphQLISODateTime, ID, Int, ObjectType } from 'type-graphql';

@Entity({ schema: 'identity', tableName: 'user' })
@ObjectType({ description: 'A person of an organization.' })
@Directive('@key(fields: "id")')
export class User {
  @PrimaryKey({ type: 'text' })
  @Field(() => ID)
  id!: string;

  @Property({ type: new BigIntType('number'), fieldName: 'numeric_id', autoincrement: true })
  @Field(() => Int, { description: 'The integer that the growth-track interface knows this user by.' })
  numericId!: number;

  @Property({ type: 'text', fieldName: 'organization_id' })
  organizationId!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  email!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  name!: string;

  @Property({ type: 'text', fieldName: 'organization_role', nullable: true })
  @Field(() => String, { nullable: true, description: 'architect or sovereign.' })
  organizationRole!: string | null;

  @Property({ type: 'timestamptz', fieldName: 'created_at' })
  @Field(() => GraphQLISODateTime)
  createdAt!: Date;
}
