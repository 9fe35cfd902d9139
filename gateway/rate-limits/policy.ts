import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ConfigError } from '#platform/config.ts';
import type { Config } from '#platform/config.ts';
import { plans } from '#platform/principal.ts';
import type { Plan } from '#platform/principal.ts';
import type { Rate } from '#platform/sliding-window.ts';

/** A number is a limit a minute with a burst of a quarter; the longer form says otherwise. */
type Figure = number | { readonly limit: number; readonly burst?: number; readonly window_seconds?: number };

/** Reads and writes apart, or all requests together. */
type Kinds<Value> = { readonly read: Value; readonly write: Value } | { readonly requests: Value };

/** Who shares what an endpoint allows. */
export type Sharers = 'token' | 'organization';

/** A table as it is written below, and as RATE_LIMIT_FILE may replace parts of it. */
interface Table<Value> {
  readonly token: Readonly<Record<Plan, Kinds<Value>>>;
  readonly service_account: Readonly<Record<Plan, Kinds<Value>>>;
  /** Null: the profile knows no limit of organizations. */
  readonly organization: Readonly<Record<Plan, Value>> | null;
  /** Clients without a credential, and (`refused`) those whose credential is not valid. */
  readonly address: { readonly read: Value; readonly write: Value; readonly refused: Value };
  readonly endpoint: Readonly<Record<string, Value>>;
}

export type Policy = Table<Rate>;

const everyPlan = <Value>(value: Value): Record<Plan, Value> => Object.fromEntries(plans.map((plan) => [plan, value])) as Record<Plan, Value>;

const address = { read: 600, write: 120, refused: 600 };

/** The three rules that the guide names; only the exports are served here. */
const endpoint = {
  '/api/handler/answer': 60,
  '/api/orchestrator/orchestrations/{id}/runs': 30,
  '/api/exports/full': { limit: 1, burst: 0, window_seconds: 3600 },
};

/** Whose requests count together there, and the mutation that is the same thing in the graph. */
export const endpoints: Readonly<Record<keyof typeof endpoint, { readonly per: Sharers; readonly mutation: string | null }>> = {
  '/api/handler/answer': { per: 'token', mutation: null },
  '/api/orchestrator/orchestrations/{id}/runs': { per: 'token', mutation: null },
  '/api/exports/full': { per: 'organization', mutation: 'startFullExport' },
};

/** Interface 8.1: the rate-limit guide's three layers. It names no figures for `pro`, for service accounts and for addresses. */
const guide: Table<Figure> = {
  token: everyPlan({ read: 600, write: 120 }),
  service_account: everyPlan({ read: 3_000, write: 600 }),
  organization: { free: 6_000, pro: 6_000, team: 6_000, business: 30_000, enterprise: 60_000, sovereign: 60_000 },
  address,
  endpoint,
};

/** Interface 8.1: the overview's plans, for each token, with bursts of their own. */
const byPlan: Record<Plan, Kinds<Figure>> = {
  free: { requests: { limit: 60, burst: 10 } },
  pro: { requests: { limit: 600, burst: 100 } },
  team: { requests: { limit: 600, burst: 100 } },
  business: { requests: { limit: 600, burst: 100 } },
  enterprise: { requests: { limit: 6_000, burst: 1_000 } },
  sovereign: { requests: { limit: 6_000, burst: 1_000 } },
};
const overview: Table<Figure> = { token: byPlan, service_account: byPlan, organization: null, address, endpoint };

const profiles = { guide, overview };

/** The rates in force; null: none. Figures of RATE_LIMIT_FILE replace those of the profile. */
export function readPolicy({ rateLimitProfile, rateLimitFile }: Pick<Config, 'rateLimitProfile' | 'rateLimitFile'>): Policy | null {
  if (rateLimitProfile === 'off') return null;
  const table = profiles[rateLimitProfile];
  return mapFigures(rateLimitFile === null ? table : merge(table, readFigures(rateLimitFile, table))) as Policy;
}

const figure = z.union([
  z.int().min(1),
  z.strictObject({ limit: z.int().min(1), burst: z.int().min(0).optional(), window_seconds: z.number().min(1).optional() }),
], 'must be a whole number of at least 1, or { "limit", "burst"?, "window_seconds"? }');

const isFigure = (value: unknown): value is Figure => typeof value === 'number' || (typeof value === 'object' && value !== null && 'limit' in value);

/** A file may name what the profile's table has, and nothing else. */
function schemaOf(table: object): z.ZodType {
  return z.strictObject(Object.fromEntries(Object.entries(table).flatMap(([name, value]) => (value === null ? [] : [[name, (isFigure(value) ? figure : schemaOf(value)).optional()]]))));
}

function readFigures(file: string, table: object): unknown {
  const refuse = (reason: string): ConfigError => new ConfigError(`RATE_LIMIT_FILE: ${file}: ${reason}`);
  let given: unknown;
  try {
    given = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw refuse((error as Error).message);
  }
  const parsed = schemaOf(table).safeParse(given);
  if (!parsed.success) throw refuse(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`.replace(/^: /, '')).join('; '));
  return parsed.data;
}

function merge(table: unknown, given: unknown): unknown {
  if (given === undefined) return table;
  if (isFigure(table) || table === null) return given;
  return Object.fromEntries(Object.entries(table as object).map(([name, value]) => [name, merge(value, (given as Record<string, unknown>)[name])]));
}

function mapFigures(table: unknown): unknown {
  if (table === null) return null;
  if (isFigure(table)) return rateOf(table);
  return Object.fromEntries(Object.entries(table as object).map(([name, value]) => [name, mapFigures(value)]));
}

function rateOf(given: Figure): Rate {
  const { limit, burst = Math.ceil(limit / 4), window_seconds = 60 } = typeof given === 'number' ? { limit: given } : given;
  return { limit, burst, windowMs: Math.round(window_seconds * 1000) };
}
