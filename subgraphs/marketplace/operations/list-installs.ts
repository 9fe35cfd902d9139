import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { entitySource } from '#platform/database/entity-source.ts';
import { query } from '#platform/operation.ts';
import { pageInput, pageOf } from '#platform/page.ts';
import type { Page } from '#platform/page.ts';
import { Install } from '../entities/install.ts';

/** The extensions of the caller's organization. */
export const listInstalls = query({
  name: 'listInstalls',
  requires: 'marketplaceManager',
  input: z.strictObject(pageInput),
  run: (ctx: Context, input): Promise<Page<Install>> => {
    const source = entitySource(ctx.em, Install, { organizationId: ctx.principal!.organizationId });
    return pageOf(ctx, ['listInstalls'], input, { byDefault: 25, max: 100 }, source);
  },
});
