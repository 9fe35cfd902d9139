import type { Context } from '#platform/context.ts';
import { loadByKey } from '#platform/database/load-by-key.ts';
import { Organization } from './entities/organization.ts';
import { User } from './entities/user.ts';
import { Vault } from './entities/vault.ts';
import { Workspace } from './entities/workspace.ts';

interface Key {
  readonly id: string;
}

// Everything that a key can name is seen through the principal: what is another tenant's is null, like what does not exist.
export const loadOrganization = ({ id }: Key, ctx: Context) => loadByKey(ctx, Organization, id, ({ organizationId }) => ({ id: organizationId }));
export const loadVault = ({ id }: Key, ctx: Context) => loadByKey(ctx, Vault, id, ({ organizationId }) => ({ organizationId }));
export const loadWorkspace = ({ id }: Key, ctx: Context) => loadByKey(ctx, Workspace, id, ({ access }) => ({ id: { $in: Object.keys(access) } }));
export const loadUser = ({ id }: Key, ctx: Context) => loadByKey(ctx, User, id, ({ organizationId }) => ({ organizationId }));
