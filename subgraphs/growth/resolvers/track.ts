import { Args, Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import type { Context } from '#platform/context.ts';
import type { Page } from '#platform/page.ts';
import { connectionType } from '#platform/subgraph/connection-type.ts';
import { PageArgs } from '#platform/subgraph/page-args.ts';
import { System } from '../entities/system.ts';
import { Track } from '../entities/track.ts';
import { listTracks } from '../operations/list-tracks.ts';
import { loadSystem } from '../references.ts';

export const TrackConnection = connectionType('Track', Track);

@Resolver(() => Track)
export class TrackResolver {
  @Query(() => TrackConnection, { description: "The tracks of the caller's organization, newest first. Needs a session stepped up by TOTP." })
  tracks(@Ctx() ctx: Context, @Args(() => PageArgs) page: PageArgs): Promise<Page<Track>> {
    return listTracks(ctx, page);
  }

  @FieldResolver(() => System)
  system(@Root() track: Track, @Ctx() ctx: Context): Promise<System | null> {
    return loadSystem(track.systemId, ctx);
  }
}
