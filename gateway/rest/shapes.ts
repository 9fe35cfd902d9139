import { z } from 'zod';

/** Shapes that many rows share. They check what HTTP brings and print themselves into the OpenAPI description. */
export const timestamp = z.iso.datetime().describe('ISO 8601, UTC');

const moment = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 date and time with a time zone' })
  .describe('ISO 8601 date and time with time zone');
/** A moment as a caller writes it, in any time zone. */
export const dateTime = moment;

/** A number in a query string. */
export const decimal = z
  .string()
  .regex(/^-?\d{1,20}(\.\d{1,30})?(e-?\d{1,3})?$/i, 'must be a number')
  .transform(Number);

/** An integer in a query string. */
export const integer = (bounds: { min: number; max: number }) => {
  const range = `must be ${bounds.min} to ${bounds.max}`;
  return decimal.pipe(z.int('must be a whole number').min(bounds.min, range).max(bounds.max, range));
};

export const pageQuery = z.strictObject({
  limit: z
    .string()
    .regex(/^\d{1,15}$/, 'must be a whole number, 0 or more')
    .transform((digits) => Math.min(Number(digits), 2_147_483_647))
    .optional()
    .describe('Objects per page. 0 gives only the total; more than the largest page is clamped.'),
  cursor: z.string().min(1).optional().describe('next_cursor of a page: what comes after it.'),
  before: z.string().min(1).optional().describe('Any cursor of the list: what comes before it.'),
});

type PageQuery = z.output<typeof pageQuery>;

/** REST's limit, cursor and before as the graph's Relay arguments. */
export const pageVariables = ({ limit, cursor, before }: PageQuery) =>
  before === undefined ? { first: limit ?? null, after: cursor ?? null } : { last: limit ?? null, after: cursor ?? null, before };

export interface Connection<Node> {
  readonly edges: readonly { readonly node: Node }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly hasPreviousPage: boolean; readonly startCursor?: string | null; readonly endCursor?: string | null };
  readonly approximateTotal: number;
}

const envelope = {
  next_cursor: z.string().nullable().describe('null on the last page'),
  prev_cursor: z.string().nullable().describe('null on the first page'),
  has_more: z.boolean(),
  approximate_total: z.int().describe('best effort'),
};

export const page = <Item extends z.ZodType>(item: Item) => z.object({ data: z.array(item), ...envelope });
export const resultsPage = <Item extends z.ZodType>(item: Item) => z.object({ results: z.array(item), ...envelope });

/** A connection of the graph as REST's envelope, without the name of its array. */
export const presentPage = ({ pageInfo, approximateTotal }: Connection<unknown>) => ({
  next_cursor: pageInfo.hasNextPage ? (pageInfo.endCursor ?? null) : null,
  prev_cursor: pageInfo.hasPreviousPage ? (pageInfo.startCursor ?? null) : null,
  has_more: pageInfo.hasNextPage,
  approximate_total: approximateTotal,
});

/** `READ_ONLY` → `read-only`, `STORED` → `stored`: the graph's enum values as the contract's words. */
export function word<Value extends string>(value: Value): Word<Value> {
  let known = words.get(value);
  if (known === undefined) words.set(value, (known = value.toLowerCase().replaceAll('_', '-')));
  return known as Word<Value>;
}

/** Values of enums are few. */
const words = new Map<string, string>();
type Word<Value extends string> = Value extends `${infer Head}_${infer Tail}` ? `${Lowercase<Head>}-${Word<Tail>}` : Lowercase<Value>;
