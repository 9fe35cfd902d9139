/** Objects that belong to the caller: their keys are never touched. */
const callersOwn = new Set(['metadata', 'answers']);

export type SnakeCased<T> = T extends readonly (infer Item)[]
  ? SnakeCased<Item>[]
  : T extends object
    ? { [K in keyof T as K extends '__typename' ? never : SnakeCase<K & string>]: K extends 'metadata' | 'answers' ? T[K] : SnakeCased<T[K]> }
    : T;

type SnakeCase<S extends string> = S extends `${infer Head}${infer Tail}` ? (Head extends Lowercase<Head> ? `${Head}${SnakeCase<Tail>}` : `_${Lowercase<Head>}${SnakeCase<Tail>}`) : S;

/** The graph's camelCase as the REST contract's snake_case, at every depth but inside what the caller owns. */
export function present<T>(value: T): SnakeCased<T> {
  return convert(value) as SnakeCased<T>;
}

function convert(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(convert);
  if (value === null || typeof value !== 'object') return value;
  const result: Record<string, unknown> = {};
  for (const key in value) {
    const item = (value as Record<string, unknown>)[key];
    if (key !== '__typename') result[snakeCase(key)] = callersOwn.has(key) ? item : convert(item);
  }
  return result;
}

const known = new Map<string, string>();

/** Field names are few and fixed, so each is converted once. */
export function snakeCase(name: string): string {
  let converted = known.get(name);
  if (converted === undefined) {
    converted = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (known.size < 10_000) known.set(name, converted);
  }
  return converted;
}

/** `memories[3].ttlSeconds` → `memories[3].ttl_seconds`; what follows `metadata.` is the caller's. */
export function snakePath(path: string): string {
  const [, ours, theirs] = /^(.*?\bmetadata\b|.*$)(.*)$/s.exec(path)!;
  return snakeCase(ours!) + theirs!;
}

/** The reverse, for query and body members handed to the graph as variables. */
export type CamelCased<T> = { [K in keyof T as CamelCase<K & string>]: T[K] };
type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : S;

export function camelize<T extends object>(value: T): CamelCased<T> {
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [camelCase(key), item])) as CamelCased<T>;
}

/** A name that is camel case already is not of the contract: it gets an underscore that no field has, and is refused as unknown. */
const camelCase = (name: string): string => name.replace(/[A-Z]/g, '_$&').replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
