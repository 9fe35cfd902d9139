import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { query as select } from '#platform/database/query.ts';
import { query } from '#platform/operation.ts';
import { pageInput, pageOf } from '#platform/page.ts';
import type { ListSource, Page } from '#platform/page.ts';
import { workspaceScope } from '#platform/requirements.ts';
import type { Member } from '../entities/member.ts';

/** Who has which role in a workspace. */
export const listMembers = query({
  name: 'listMembers',
  requires: 'vaultRead',
  input: z.strictObject({ ...pageInput, workspaceId: z.string().nullish() }),
  run: (ctx: Context, { workspaceId: named, ...page }): Promise<Page<Member>> => {
    const workspaceId = workspaceScope(ctx.principal!, named, 'read');
    return pageOf(ctx, ['listMembers', workspaceId], page, { byDefault: 25, max: 100 }, membersOf(ctx, workspaceId));
  },
});

const membersOf = ({ em }: Context, workspaceId: string): ListSource<Member> => ({
  keyOf: ({ userId }) => userId,
  // Operator and order are two words of ours each, never the caller's.
  fetch: ({ key, operator, order, take }) =>
    select(em, `select user_id as "userId", workspace_id as "workspaceId", role from identity.member where workspace_id = $1 and ($2::text is null or user_id ${operator} $2) order by user_id ${order} limit $3`, [workspaceId, key, take]),
  total: async () => (await select<{ total: number }>(em, 'select count(*)::int as total from identity.member where workspace_id = $1', [workspaceId]))[0]!.total,
});
