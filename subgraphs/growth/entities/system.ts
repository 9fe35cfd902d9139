import { BigIntType } from '@mikro-orm/core';
import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, Int, ObjectType } from 'type-graphql';

@Entity({ schema: 'growth', tableName: 'system' })
@ObjectType({ description: 'A namespace that owns tracks.' })
export class System {
  @PrimaryKey({ type: new BigIntType('number') })
  @Field(() => Int)
  id!: number;

  @Property({ type: 'text', fieldName: 'organization_id' })
  organizationId!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  name!: string;
}
