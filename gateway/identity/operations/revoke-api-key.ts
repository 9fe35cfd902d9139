import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { query } from '#platform/database/query.ts';
import { notFound } from '#platform/errors.ts';
import { command } from '#platform/operation.ts';
import { identityChanged } from '../identity-changed.ts';
import { administeredWorkspaces } from './list-api-keys.ts';

export interface RevokeReceipt {
  readonly id: string;
  readonly status: 'revoked';
  readonly revokedAt: string;
}

export const revokeApiKey = command({
  name: 'revokeApiKey',
  requires: 'vaultAdmin',
  input: z.strictObject({ id: z.string() }),
  run: async (ctx: Context, { id }): Promise<RevokeReceipt> => {
    const now = ctx.clock.now();
    const [revoked] = await query(
      ctx.em,
      `update identity.api_key set revoked_at = $1 where id = $2 and revoked_at is null and organization_id = $3 and ($4::text[] is null or workspace_id = any($4)) returning id`,
      [now, id, ctx.principal!.organizationId, administeredWorkspaces(ctx.principal!)],
    );
    if (!revoked) throw notFound('API key', id);
    await identityChanged(ctx.em);
    return { id, status: 'revoked', revokedAt: now.toISOString() };
  },
});
