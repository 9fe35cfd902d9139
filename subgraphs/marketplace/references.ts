import DataLoader from 'dataloader';
import type { Context } from '#platform/context.ts';
import { loadByKey } from '#platform/database/load-by-key.ts';
import { isArchitect } from '#platform/principal.ts';
import { Install } from './entities/install.ts';
import { isPublic, Listing } from './entities/listing.ts';
import type { Organization } from './entities/organization.ts';

const loaders = new WeakMap<Context, DataLoader<string, Listing | null>>();

/** The public listing with this slug, whoever asks. All of one turn come with one statement. */
export function loadListing({ slug }: { slug: string }, ctx: Context): Promise<Listing | null> {
  const loader = loaders.get(ctx) ?? new DataLoader((slugs: readonly string[]) => findAll(ctx, slugs));
  loaders.set(ctx, loader);
  return loader.load(slug);
}

async function findAll(ctx: Context, slugs: readonly string[]): Promise<(Listing | null)[]> {
  const found = await ctx.em.find(Listing, { $and: [{ slug: { $in: [...slugs] } }, isPublic] });
  const bySlug = new Map(found.map((listing) => [listing.slug, listing]));
  return slugs.map((slug) => bySlug.get(slug) ?? null);
}

export const loadInstall = async ({ id }: { id: string }, ctx: Context): Promise<Install | null> =>
  ctx.principal !== null && isArchitect(ctx.principal) ? loadByKey(ctx, Install, id, ({ organizationId }) => ({ organizationId })) : null;

/** Identity decides whether the organization is the caller's to see; what the marketplace adds checks again. */
export const loadOrganization = ({ id }: { id: string }, ctx: Context): Organization | null => (ctx.principal?.organizationId === id ? { id } : null);
