import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { query } from '#platform/operation.ts';
import { Organization } from '../entities/organization.ts';

export const getOrganization = query({
  name: 'getOrganization',
  requires: 'authenticated',
  input: z.strictObject({}),
  run: (ctx: Context): Promise<Organization> => ctx.em.findOneOrFail(Organization, ctx.principal!.organizationId),
});
