import type { Context } from '#platform/context.ts';
import type { User } from './entities/user.ts';

/** Identity decides whether the user is the caller's to see; what learning adds checks again. */
export const loadUser = ({ id }: { id: string }, ctx: Context): User | null => (ctx.principal === null ? null : { id });
