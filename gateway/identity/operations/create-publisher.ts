import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import { query } from '#platform/database/query.ts';
import { DomainError } from '#platform/errors.ts';
import { newId } from '#platform/ids.ts';
import { command } from '#platform/operation.ts';
import { digestOf, newToken } from '../tokens.ts';

/** The only time that the token itself is seen. */
export interface PublisherReceipt {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly token: string;
}

/** Who publishes extensions, under a name that is unique on this installation. */
export const createPublisher = command({
  name: 'createPublisher',
  requires: 'session',
  input: z.strictObject({
    name: z.string().trim().min(1, 'must not be blank').max(200),
    slug: z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/, 'must be 1 to 40 small letters, digits and hyphens, with no hyphen at either end'),
  }),
  run: async (ctx: Context, { name, slug }): Promise<PublisherReceipt> => {
    const { organizationId, userId } = ctx.principal!;
    const token = newToken('qp');
    const id = newId('publisher');
    const [made] = await query(ctx.em, insertPublisher, [id, organizationId, slug, name, userId, digestOf(token), ctx.clock.now()]);
    if (!made) throw new DomainError('already_exists', `There is a publisher '${slug}' already.`);
    return { id, slug, name, token };
  },
});

export const insertPublisher = `
  insert into identity.publisher (id, organization_id, slug, name, created_by, digest, created_at)
  values ($1, $2, $3, $4, $5, $6, $7) on conflict (slug) do nothing returning id`;
