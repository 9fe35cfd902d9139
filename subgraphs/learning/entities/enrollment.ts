import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, GraphQLISODateTime, ID, ObjectType, registerEnumType } from 'type-graphql';

export enum EnrollmentState {
  ACTIVE = 'active',
  COMPLETED = 'completed',
}
registerEnumType(EnrollmentState, { name: 'EnrollmentState' });

@Entity({ schema: 'learning', tableName: 'enrollment' })
@ObjectType({ description: 'A user takes a course.' })
export class Enrollment {
  @PrimaryKey({ type: 'text' })
  @Field(() => ID)
  id!: string;

  @Property({ type: 'text', fieldName: 'organization_id' })
  organizationId!: string;

  @Property({ type: 'text', fieldName: 'user_id' })
  userId!: string;

  @Property({ type: 'text', fieldName: 'course_slug' })
  @Field(() => String)
  courseSlug!: string;

  @Property({ type: 'text' })
  @Field(() => EnrollmentState)
  state!: EnrollmentState;

  @Property({ type: 'timestamptz', fieldName: 'enrolled_at' })
  @Field(() => GraphQLISODateTime)
  enrolledAt!: Date;

  @Property({ type: 'timestamptz', fieldName: 'completed_at', nullable: true })
  @Field(() => GraphQLISODateTime, { nullable: true })
  completedAt!: Date | null;
}
