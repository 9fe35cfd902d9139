import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { entitySource } from '#platform/database/entity-source.ts';
import { query } from '#platform/operation.ts';
import { pageInput, pageOf } from '#platform/page.ts';
import type { Page } from '#platform/page.ts';
import { Track } from '../entities/track.ts';

/** The tracks of the caller's organization. */
export const listTracks = query({
  name: 'listTracks',
  requires: 'growthAdmin',
  input: z.strictObject(pageInput),
  run: (ctx: Context, input): Promise<Page<Track>> => {
    const source = entitySource(ctx.em, Track, { organizationId: ctx.principal!.organizationId });
    return pageOf(ctx, ['listTracks'], input, { byDefault: 25, max: 100 }, source);
  },
});
