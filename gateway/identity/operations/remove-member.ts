import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { query } from '#platform/database/query.ts';
import { notFound } from '#platform/errors.ts';
import { command } from '#platform/operation.ts';
import { identityChanged } from '../identity-changed.ts';
import { ownedWorkspace, refuseLastOwner } from './set-member.ts';

export interface RemoveMemberReceipt {
  readonly userId: string;
  readonly workspaceId: string;
  readonly status: 'removed';
}

export const removeMember = command({
  name: 'removeMember',
  requires: 'session',
  input: z.strictObject({ userId: z.string(), workspaceId: z.string().nullish() }),
  subjectsOf: (_input, { userId, workspaceId }: RemoveMemberReceipt) => [userId, workspaceId],
  run: async (ctx: Context, { userId, workspaceId: named }): Promise<RemoveMemberReceipt> => {
    const workspaceId = await ownedWorkspace(ctx, named);
    await refuseLastOwner(ctx, workspaceId, userId);
    const [removed] = await query(ctx.em, 'delete from identity.member where workspace_id = $1 and user_id = $2 returning user_id', [workspaceId, userId]);
    if (!removed) throw notFound('member', userId);
    await identityChanged(ctx.em);
    return { userId, workspaceId, status: 'removed' };
  },
});
