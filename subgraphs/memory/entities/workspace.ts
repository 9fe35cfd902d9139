import { Directive, Field, ID, ObjectType } from 'type-graphql';

/** Identity knows the rest; memory adds what is kept in it. */
@ObjectType()
@Directive('@key(fields: "id")')
export class Workspace {
  @Field(() => ID)
  id!: string;
}
