import type { FilterQuery } from '@mikro-orm/core';
import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, GraphQLISODateTime, ID, Int, ObjectType } from 'type-graphql';
import { Pricing } from './pricing.ts';

@Entity({ schema: 'marketplace', tableName: 'listing' })
@ObjectType({ description: 'An extension in the catalogue.' })
@Directive('@key(fields: "slug")')
export class Listing {
  @PrimaryKey({ type: 'text' })
  @Field(() => ID)
  id!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  slug!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  name!: string;

  @Property({ type: 'text' })
  @Field(() => String, { description: 'One line.' })
  tagline!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  description!: string;

  @Property({ type: 'text', fieldName: 'publisher_name' })
  @Field(() => String)
  publisherName!: string;

  /** Null until a version is approved, and then the listing is not public. */
  @Property({ type: 'text', fieldName: 'latest_version', nullable: true })
  @Field(() => String, { description: 'The newest approved version.' })
  latestVersion!: string | null;

  @Property({ type: 'json' })
  @Field(() => Pricing)
  pricing!: Pricing;

  @Property({ type: 'int', fieldName: 'installs_count' })
  @Field(() => Int)
  installsCount!: number;

  /** When the first version was approved. */
  @Property({ type: 'timestamptz', fieldName: 'approved_at', nullable: true })
  approvedAt!: Date | null;

  @Property({ type: 'timestamptz', fieldName: 'created_at' })
  @Field(() => GraphQLISODateTime)
  createdAt!: Date;

  @Property({ type: 'timestamptz', fieldName: 'updated_at' })
  @Field(() => GraphQLISODateTime)
  updatedAt!: Date;
}

/** A listing is public once a version is approved (decisions 9). */
export const isPublic: FilterQuery<Listing> = { approvedAt: { $ne: null } };
