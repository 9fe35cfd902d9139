import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { GraphQLISODateTime } from 'type-graphql';
import { Directive, Field, ID, ObjectType } from 'type-graphql';

/** A tenant. Nothing of one organization is ever visible to another. */
@Entity({ schema: 'identity', tableName: 'organization' })
@ObjectType({ description: 'A tenant. Nothing of one organization is ever visible to another.' })
@Directive('@key(fields: "id")')
export class Organization {
  @PrimaryKey({ type: 'text' })
  @Field(() => ID)
  id!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  name!: string;

  @Property({ type: 'text' })
  @Field(() => String, { description: 'free, pro, team, business, enterprise or sovereign: sets the rate limits.' })
  plan!: string;

  @Property({ type: 'timestamptz', fieldName: 'created_at' })
  @Field(() => GraphQLISODateTime)
  createdAt!: Date;
}
