import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { query } from '#platform/database/query.ts';
import { DomainError, notFound } from '#platform/errors.ts';
import { command } from '#platform/operation.ts';
import { WorkspaceRole } from '../entities/member.ts';
import type { Member } from '../entities/member.ts';
import { identityChanged } from '../identity-changed.ts';

/** Gives a user of the organization a role in a workspace, in place of the one they had. */
export const setMember = command({
  name: 'setMember',
  requires: 'session',
  input: z.strictObject({ userId: z.string(), role: z.enum(WorkspaceRole), workspaceId: z.string().nullish() }),
  subjectsOf: (_input, { userId, workspaceId }: Member) => [userId, workspaceId],
  run: async (ctx: Context, { userId, role, workspaceId: named }): Promise<Member> => {
    const workspaceId = await ownedWorkspace(ctx, named);
    const [user] = await query(ctx.em, 'select id from identity.user where id = $1 and organization_id = $2', [userId, ctx.principal!.organizationId]);
    if (!user) throw notFound('user', userId);
    if (role !== WorkspaceRole.OWNER) await refuseLastOwner(ctx, workspaceId, userId);
    await query(
      ctx.em,
      'insert into identity.member (workspace_id, user_id, role) values ($1, $2, $3) on conflict (workspace_id, user_id) do update set role = excluded.role',
      [workspaceId, userId, role],
    );
    await identityChanged(ctx.em);
    return { userId, workspaceId, role };
  },
});

/** The workspace whose members the caller manages: as its Owner, or as an Architect. Locked, so that of two owners who leave at once one stays. */
export async function ownedWorkspace(ctx: Context, named: string | null | undefined): Promise<string> {
  const { organizationId, organizationRole, userId, workspaceId: own } = ctx.principal!;
  const workspaceId = named ?? own;
  const [workspace] = await query<{ is_owner: boolean }>(
    ctx.em,
    `select exists (select from identity.member where workspace_id = workspace.id and user_id = $3 and role = 'owner') as is_owner
       from identity.workspace where id = $1 and organization_id = $2 for update`,
    [workspaceId, organizationId, userId],
  );
  if (!workspace) throw new DomainError('permission_denied', `The credential does not reach workspace '${workspaceId.slice(0, 100)}'.`);
  if (!workspace.is_owner && organizationRole === null) throw new DomainError('permission_denied', 'Members are managed by the Owner of the workspace or an Architect.');
  return workspaceId;
}

export async function refuseLastOwner(ctx: Context, workspaceId: string, userId: string): Promise<void> {
  const owners = await query<{ user_id: string }>(ctx.em, `select user_id from identity.member where workspace_id = $1 and role = 'owner' limit 2`, [workspaceId]);
  if (owners.length === 1 && owners[0]!.user_id === userId) {
    throw new DomainError('invalid_transition', 'This is the last Owner of the workspace: make another one first.');
  }
}
