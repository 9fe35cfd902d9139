import { BigIntType } from '@mikro-orm/core';
import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, GraphQLISODateTime, Int, ObjectType, registerEnumType } from 'type-graphql';

export enum TrackState {
  DRAFT = 'draft',
  ACTIVE = 'active',
  ARCHIVED = 'archived',
}
registerEnumType(TrackState, { name: 'TrackState' });

@Entity({ schema: 'growth', tableName: 'track' })
@ObjectType({ description: 'A way along which an organization grows.' })
export class Track {
  @PrimaryKey({ type: new BigIntType('number') })
  @Field(() => Int)
  id!: number;

  @Property({ type: 'text', fieldName: 'organization_id' })
  organizationId!: string;

  @Property({ type: new BigIntType('number'), fieldName: 'system_id' })
  systemId!: number;

  @Property({ type: 'text' })
  @Field(() => String)
  name!: string;

  @Property({ type: 'text' })
  @Field(() => TrackState)
  state!: TrackState;

  @Property({ type: 'timestamptz', fieldName: 'created_at' })
  @Field(() => GraphQLISODateTime)
  createdAt!: Date;
}
