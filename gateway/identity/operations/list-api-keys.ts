import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { entitySource } from '#platform/database/entity-source.ts';
import { query } from '#platform/operation.ts';
import { pageInput, pageOf } from '#platform/page.ts';
import type { Page } from '#platform/page.ts';
import type { Principal } from '#platform/principal.ts';
import { workspacesWith } from '#platform/principal.ts';
import { ApiKey } from '../entities/api-key.ts';

export const listApiKeys = query({
  name: 'listApiKeys',
  requires: 'vaultAdmin',
  input: z.strictObject(pageInput),
  run: (ctx: Context, input): Promise<Page<ApiKey>> => {
    const { organizationId, credentialId } = ctx.principal!;
    const workspaces = administeredWorkspaces(ctx.principal!);
    const source = entitySource(ctx.em, ApiKey, { organizationId, revokedAt: null, ...(workspaces && { workspaceId: { $in: workspaces } }) });
    return pageOf(ctx, ['listApiKeys', credentialId], input, { byDefault: 25, max: 100 }, source);
  },
});

/** The workspaces whose keys the principal manages; null: all of the organization. */
export const administeredWorkspaces = (principal: Principal): string[] | null =>
  principal.organizationRole === null ? workspacesWith(principal, 'admin') : null;
