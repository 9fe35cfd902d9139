import { Directive, Field, ID, ObjectType } from 'type-graphql';

/** Identity knows the rest; growth adds its tracks. */
@ObjectType()
@Directive('@key(fields: "id")')
export class Organization {
  @Field(() => ID)
  id!: string;
}
