import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { notFound } from '#platform/errors.ts';
import { query } from '#platform/operation.ts';
import { User } from '../entities/user.ts';

/** A user of the credential's organization. */
export const getUser = query({
  name: 'getUser',
  requires: 'authenticated',
  input: z.strictObject({ id: z.string() }),
  run: async (ctx: Context, { id }): Promise<User> => {
    const user = await ctx.em.findOne(User, { id, organizationId: ctx.principal!.organizationId });
    if (!user) throw notFound('user', id);
    return user;
  },
});
