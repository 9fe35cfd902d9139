import { z } from 'zod';
import type { Context } from './context.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import type { Boundary, ListIdentity } from './cursor.ts';
import { validationError } from './errors.ts';

/** Relay's arguments. `first` with `after` walks to older objects, `last` with `before` back to newer ones; newest first always. */
export const pageInput = {
  first: z.number().int().min(0, 'must be 0 or more').nullish(),
  after: z.string().min(1).nullish(),
  last: z.number().int().min(0, 'must be 0 or more').nullish(),
  before: z.string().min(1).nullish(),
};
export type PageInput = z.output<z.ZodObject<typeof pageInput>>;

/** A list sorted by one key, descending. `take` more than is shown tells whether there is another page. */
export interface ListSource<Row> {
  readonly keyOf: (row: Row) => string;
  /** Rows on one side of a key: `key <operator> $key order by key <order> limit take`; every row when `key` is null. */
  readonly fetch: (slice: { key: string | null; operator: '<' | '<=' | '>' | '>='; order: 'asc' | 'desc'; take: number }) => Promise<Row[]>;
  readonly total: () => Promise<number>;
}

export interface Page<Row> {
  readonly edges: readonly { readonly node: Row; readonly cursor: string }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly hasPreviousPage: boolean; readonly startCursor: string | null; readonly endCursor: string | null };
  /** Best effort (interface 8.2). */
  readonly approximateTotal: Promise<number>;
}

export async function pageOf<Row>(
  ctx: Pick<Context, 'clock' | 'config' | 'secrets' | 'principal'>,
  list: ListIdentity,
  input: PageInput,
  limits: { byDefault: number; max: number },
  source: ListSource<Row>,
): Promise<Page<Row>> {
  if (input.after != null && input.before != null) throw validationError([{ path: 'before', message: 'cannot be combined with a forward cursor' }]);
  const backwards = input.before != null;
  const limit = Math.min((backwards ? (input.last ?? input.first) : (input.first ?? input.last)) ?? limits.byDefault, limits.max);
  const boundary = decodeBoundary(ctx, list, input);

  const older = (from: Boundary | null, take: number) => source.fetch({ key: keyOf(from), operator: from?.side === 'before' ? '<=' : '<', order: 'desc', take });
  const newer = (from: Boundary, take: number) => source.fetch({ key: keyOf(from), operator: from.side === 'before' ? '>' : '>=', order: 'asc', take });

  // One row more than asked for shows that there is another page; on the side we came from, any one row does.
  const found = limit === 0 ? [] : backwards ? await newer(boundary!, limit + 1) : await older(boundary, limit + 1);
  const more = found.length > limit;
  const rows = backwards ? found.slice(0, limit).reverse() : found.slice(0, limit);
  const behind = boundary !== null && (await (backwards ? older(boundary, 1) : newer(boundary, 1))).length > 0;

  const first = rows[0];
  const last = rows.at(-1);
  const start: Boundary | null = first === undefined ? boundary : { key: source.keyOf(first), side: 'before' };
  const end: Boundary | null = last === undefined ? boundary : { key: source.keyOf(last), side: 'after' };
  const cursorAt = (at: Boundary | null): string | null => (at === null ? null : encodeCursor(ctx, list, at));
  return {
    // Getters: what nobody selects is not computed.
    edges: rows.map((node) => ({
      node,
      get cursor() {
        return encodeCursor(ctx, list, { key: source.keyOf(node), side: 'after' });
      },
    })),
    pageInfo: {
      hasNextPage: backwards ? behind : more,
      hasPreviousPage: backwards ? more : behind,
      startCursor: cursorAt(start),
      endCursor: cursorAt(end),
    },
    get approximateTotal() {
      return source.total();
    },
  };
}

function decodeBoundary(ctx: Pick<Context, 'clock' | 'config' | 'secrets' | 'principal'>, list: ListIdentity, input: PageInput): Boundary | null {
  const cursor = input.before ?? input.after;
  return cursor == null ? null : decodeCursor(ctx, list, cursor);
}

const keyOf = (boundary: Boundary | null): string | null => (boundary === null ? null : String(boundary.key));
