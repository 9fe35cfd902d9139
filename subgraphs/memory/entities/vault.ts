import { Directive, Field, ID, ObjectType } from 'type-graphql';

/** Identity knows the rest. */
@ObjectType()
@Directive('@key(fields: "id", resolvable: false)')
export class Vault {
  @Field(() => ID)
  id!: string;
}
