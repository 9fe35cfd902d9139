import { Directive, Field, ID, ObjectType } from 'type-graphql';

/** Identity knows the rest; the marketplace adds what is installed. */
@ObjectType()
@Directive('@key(fields: "id")')
export class Organization {
  @Field(() => ID)
  id!: string;
}
