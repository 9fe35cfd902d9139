import { ArgsType, Field, Int } from 'type-graphql';
import type { PageInput } from '../page.ts';

/** Relay's paging arguments, for every list. */
@ArgsType()
export class PageArgs implements PageInput {
  @Field(() => Int, { nullable: true })
  first?: number | null;

  @Field(() => String, { nullable: true })
  after?: string | null;

  @Field(() => Int, { nullable: true })
  last?: number | null;

  @Field(() => String, { nullable: true })
  before?: string | null;
}
