import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { Context } from '#platform/context.ts';
import { Organization } from '../entities/organization.ts';
import { Vault } from '../entities/vault.ts';
import { loadOrganization } from '../references.ts';

@Resolver(() => Vault)
export class VaultResolver {
  @FieldResolver(() => Organization)
  organization(@Root() vault: Vault, @Ctx() ctx: Context): Promise<Organization | null> {
    return loadOrganization({ id: vault.organizationId }, ctx);
  }
}
