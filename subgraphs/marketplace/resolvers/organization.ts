import { Args, Ctx, FieldResolver, Resolver } from 'type-graphql';
import type { Context } from '#platform/context.ts';
import type { Page } from '#platform/page.ts';
import { connectionType } from '#platform/subgraph/connection-type.ts';
import { PageArgs } from '#platform/subgraph/page-args.ts';
import { Install } from '../entities/install.ts';
import { Organization } from '../entities/organization.ts';
import { listInstalls } from '../operations/list-installs.ts';

const InstallConnection = connectionType('Install', Install);

@Resolver(() => Organization)
export class OrganizationResolver {
  // Nullable, so that a refusal takes this field only and not the whole organization.
  @FieldResolver(() => InstallConnection, { nullable: true, description: 'The installed extensions, newest first; for an Architect or Sovereign.' })
  installs(@Ctx() ctx: Context, @Args(() => PageArgs) page: PageArgs): Promise<Page<Install>> {
    return listInstalls(ctx, page);
  }
}
