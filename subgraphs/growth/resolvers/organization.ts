import { Args, Ctx, FieldResolver, Resolver } from 'type-graphql';
import type { Context } from '#platform/context.ts';
import type { Page } from '#platform/page.ts';
import { PageArgs } from '#platform/subgraph/page-args.ts';
import { Organization } from '../entities/organization.ts';
import type { Track } from '../entities/track.ts';
import { listTracks } from '../operations/list-tracks.ts';
import { TrackConnection } from './track.ts';

@Resolver(() => Organization)
export class OrganizationResolver {
  // Nullable, so that a refusal takes this field only and not the whole organization.
  @FieldResolver(() => TrackConnection, { nullable: true, description: 'The growth tracks, newest first. Needs a session stepped up by TOTP.' })
  tracks(@Ctx() ctx: Context, @Args(() => PageArgs) page: PageArgs): Promise<Page<Track>> {
    return listTracks(ctx, page);
  }
}
