import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, GraphQLISODateTime, ID, ObjectType } from 'type-graphql';

@Entity({ schema: 'identity', tableName: 'vault' })
@ObjectType({ description: 'Where an organization keeps knowledge; holds workspaces.' })
@Directive('@key(fields: "id")')
export class Vault {
  @PrimaryKey({ type: 'text' })
  @Field(() => ID)
  id!: string;

  @Property({ type: 'text', fieldName: 'organization_id' })
  organizationId!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  name!: string;

  @Property({ type: 'timestamptz', fieldName: 'created_at' })
  @Field(() => GraphQLISODateTime)
  createdAt!: Date;
}
