import { Args, Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import type { Context } from '#platform/context.ts';
import type { Page } from '#platform/page.ts';
import { connectionType } from '#platform/subgraph/connection-type.ts';
import { PageArgs } from '#platform/subgraph/page-args.ts';
import { Organization } from '../entities/organization.ts';
import { Vault } from '../entities/vault.ts';
import { Workspace } from '../entities/workspace.ts';
import { listWorkspaces } from '../operations/list-workspaces.ts';
import { loadOrganization, loadVault } from '../references.ts';

const WorkspaceConnection = connectionType('Workspace', Workspace);

@Resolver(() => Workspace)
export class WorkspaceResolver {
  @Query(() => WorkspaceConnection, { description: 'The workspaces that the credential reaches.' })
  workspaces(@Ctx() ctx: Context, @Args(() => PageArgs) page: PageArgs): Promise<Page<Workspace>> {
    return listWorkspaces(ctx, page);
  }

  @FieldResolver(() => Vault)
  vault(@Root() workspace: Workspace, @Ctx() ctx: Context): Promise<Vault | null> {
    return loadVault({ id: workspace.vaultId }, ctx);
  }

  @FieldResolver(() => Organization)
  organization(@Root() workspace: Workspace, @Ctx() ctx: Context): Promise<Organization | null> {
    return loadOrganization({ id: workspace.organizationId }, ctx);
  }
}
