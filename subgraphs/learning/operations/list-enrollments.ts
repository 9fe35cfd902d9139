import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { entitySource } from '#platform/database/entity-source.ts';
import { DomainError } from '#platform/errors.ts';
import { query } from '#platform/operation.ts';
import { pageInput, pageOf } from '#platform/page.ts';
import type { Page } from '#platform/page.ts';
import { isArchitect, isGranted } from '#platform/principal.ts';
import { Enrollment } from '../entities/enrollment.ts';

/** What a user learns: for the user, and for an Architect of the same organization. */
export const listEnrollments = query({
  name: 'listEnrollments',
  requires: 'learner',
  input: z.strictObject({ ...pageInput, userId: z.string() }),
  run: async (ctx: Context, { userId, ...page }): Promise<Page<Enrollment>> => {
    const principal = ctx.principal!;
    if (principal.userId !== userId && !(isArchitect(principal) && isGranted(principal, 'learn.manage'))) {
      throw new DomainError('permission_denied', 'Only the user and an Architect of the organization may see what a user learns.');
    }
    const source = entitySource(ctx.em, Enrollment, { userId, organizationId: principal.organizationId });
    return pageOf(ctx, ['listEnrollments', userId], page, { byDefault: 25, max: 100 }, source);
  },
});
