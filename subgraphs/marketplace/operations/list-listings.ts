import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { entitySource } from '#platform/database/entity-source.ts';
import { query } from '#platform/operation.ts';
import { pageInput, pageOf } from '#platform/page.ts';
import type { Page } from '#platform/page.ts';
import { isPublic, Listing } from '../entities/listing.ts';

/** The public catalogue. */
export const listListings = query({
  name: 'listListings',
  requires: 'public',
  input: z.strictObject(pageInput),
  run: (ctx: Context, input): Promise<Page<Listing>> => pageOf(ctx, ['listListings'], input, { byDefault: 25, max: 100 }, entitySource(ctx.em, Listing, isPublic)),
});
