import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Context } from './context.ts';
import { DomainError } from './errors.ts';

/**
 * A cursor lies between two objects: just after, or just before, the object whose sort key it carries. It is signed and
 * bound to its list: endpoint, sort, filters and tenant. Nobody can read more from it than from the page it came with.
 */
export interface Boundary {
  readonly key: string | number;
  readonly side: 'after' | 'before';
}

/** Names the list a cursor belongs to, for example ['listMemories', workspaceId, filters]. */
export type ListIdentity = readonly unknown[];

type CursorContext = Pick<Context, 'clock' | 'config' | 'secrets' | 'principal'>;

export function encodeCursor(ctx: CursorContext, list: ListIdentity, boundary: Boundary): string {
  const issuedAt = Math.floor(ctx.clock.now().getTime() / 1000);
  const payload = Buffer.from(JSON.stringify([boundary.key, boundary.side === 'after' ? 1 : 0, issuedAt]));
  return Buffer.concat([signature(ctx, list, payload), payload]).toString('base64url');
}

export function decodeCursor(ctx: CursorContext, list: ListIdentity, cursor: string): Boundary {
  const bytes = Buffer.from(cursor, 'base64url');
  const payload = bytes.subarray(signatureBytes);
  if (payload.length === 0 || !timingSafeEqual(bytes.subarray(0, signatureBytes), signature(ctx, list, payload))) {
    throw new DomainError('invalid_cursor', 'This cursor does not belong to this list with this sort and these filters; start again without a cursor.');
  }
  const [key, after, issuedAt] = JSON.parse(payload.toString('utf8')) as [string | number, number, number];
  if (ctx.clock.now().getTime() / 1000 - issuedAt > ctx.config.cursorTtlSeconds) {
    throw new DomainError('cursor_expired', `A cursor lives ${ctx.config.cursorTtlSeconds} seconds; start again without a cursor.`);
  }
  return { key, side: after === 1 ? 'after' : 'before' };
}

const signatureBytes = 12;

function signature(ctx: CursorContext, list: ListIdentity, payload: Buffer): Buffer {
  const identity = createHash('sha256').update(JSON.stringify([ctx.principal?.organizationId ?? null, ...list])).digest();
  return createHmac('sha256', ctx.secrets.cursor).update(identity).update(payload).digest().subarray(0, signatureBytes);
}
