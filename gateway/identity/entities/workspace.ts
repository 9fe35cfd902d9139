import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, GraphQLISODateTime, ID, ObjectType } from 'type-graphql';

@Entity({ schema: 'identity', tableName: 'workspace' })
@ObjectType({ description: 'A part of a vault with members of its own. Every memory object lives in one.' })
@Directive('@key(fields: "id")')
export class Workspace {
  @PrimaryKey({ type: 'text' })
  @Field(() => ID)
  id!: string;

  @Property({ type: 'text', fieldName: 'organization_id' })
  organizationId!: string;

  @Property({ type: 'text', fieldName: 'vault_id' })
  vaultId!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  name!: string;

  @Property({ type: 'boolean', fieldName: 'is_default' })
  @Field(() => Boolean, { description: 'Where credentials work that name no workspace.' })
  isDefault!: boolean;

  @Property({ type: 'timestamptz', fieldName: 'created_at' })
  @Field(() => GraphQLISODateTime)
  createdAt!: Date;
}
