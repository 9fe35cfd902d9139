import { Ctx, Query, Resolver } from 'type-graphql';
import type { Context } from '#platform/context.ts';
import { Organization } from '../entities/organization.ts';
import { getOrganization } from '../operations/get-organization.ts';

@Resolver(() => Organization)
export class OrganizationResolver {
  @Query(() => Organization, { description: "The credential's organization." })
  organization(@Ctx() ctx: Context): Promise<Organization> {
    return getOrganization(ctx, {});
  }
}
