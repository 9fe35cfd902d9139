import { Directive, Field, ID, ObjectType } from 'type-graphql';

/** Identity knows the rest; learning adds what the user learns. */
@ObjectType()
@Directive('@key(fields: "id")')
export class User {
  @Field(() => ID)
  id!: string;
}
