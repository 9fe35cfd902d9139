import { Args, Ctx, Query, Resolver } from 'type-graphql';
import type { Context } from '#platform/context.ts';
import type { Page } from '#platform/page.ts';
import { connectionType } from '#platform/subgraph/connection-type.ts';
import { PageArgs } from '#platform/subgraph/page-args.ts';
import { Listing } from '../entities/listing.ts';
import { listListings } from '../operations/list-listings.ts';

const ListingConnection = connectionType('Listing', Listing);

@Resolver(() => Listing)
export class ListingResolver {
  @Query(() => ListingConnection, { description: 'The public catalogue, newest first.' })
  listings(@Ctx() ctx: Context, @Args(() => PageArgs) page: PageArgs): Promise<Page<Listing>> {
    return listListings(ctx, page);
  }
}
