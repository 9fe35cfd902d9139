import type { ObjectQuery } from '@mikro-orm/core';
import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, GraphQLISODateTime, ID, ObjectType, registerEnumType } from 'type-graphql';
import type { Principal } from '#platform/principal.ts';

export enum Discipline {
  CELLS = 'Cells',
  OPS = 'Ops',
  CARE = 'Care',
  DEV = 'Dev',
}
registerEnumType(Discipline, { name: 'Discipline' });

export enum CourseLevel {
  FOUNDATIONAL = 'foundational',
  PROFICIENT = 'proficient',
  ADVANCED = 'advanced',
  MASTER = 'master',
}
registerEnumType(CourseLevel, { name: 'CourseLevel' });

@Entity({ schema: 'learning', tableName: 'course' })
@ObjectType({ description: "A course of the platform's catalogue or of one organization." })
export class Course {
  @PrimaryKey({ type: 'text' })
  @Field(() => ID)
  id!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  slug!: string;

  /** Null: the platform's catalogue. */
  @Property({ type: 'text', fieldName: 'organization_id', nullable: true })
  organizationId!: string | null;

  @Property({ type: 'text' })
  @Field(() => String)
  title!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  summary!: string;

  @Property({ type: 'text' })
  @Field(() => Discipline)
  discipline!: Discipline;

  @Property({ type: 'text' })
  @Field(() => String, { description: 'Whom it is for.' })
  role!: string;

  @Property({ type: 'text' })
  @Field(() => CourseLevel)
  level!: CourseLevel;

  /** Null: a draft, which no catalogue shows. */
  @Property({ type: 'timestamptz', fieldName: 'published_at', nullable: true })
  @Field(() => GraphQLISODateTime)
  publishedAt!: Date | null;

  @Property({ type: 'timestamptz', fieldName: 'created_at' })
  @Field(() => GraphQLISODateTime)
  createdAt!: Date;
}

/** What is published by the platform is everybody's; what an organization published is its own. */
export const isVisibleTo = (principal: Principal | null): ObjectQuery<Course> => ({
  publishedAt: { $ne: null },
  $or: [{ organizationId: null }, ...(principal === null ? [] : [{ organizationId: principal.organizationId }])],
});
