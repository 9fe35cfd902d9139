import { availableParallelism } from 'node:os';
import { z } from 'zod';

const seconds = (byDefault: number) => z.coerce.number().positive().default(byDefault);
const flag = z.enum(['true', 'false']).transform((value) => value === 'true');
const text = z.string().min(1).nullable().default(null);
const origin = z.url({ protocol: /^https?$/ }).transform((url) => new URL(url).origin).nullable().default(null);
const count = (byDefault: number) => z.coerce.number().int().min(1).default(byDefault);

/** `5,300,1800` → [5, 300, 1800] */
const schedule = (byDefault: string) =>
  z
    .string()
    .default(byDefault)
    .transform((list) => list.split(',').map(Number))
    .pipe(z.array(z.number().positive()).min(1));

/** `memory=http://…/graphql,marketplace=…` → { memory: 'http://…' } */
const addresses = z
  .string()
  .transform((list): Record<string, string> => Object.fromEntries(list.split(',').map((entry) => entry.trim().split(/=(.*)/s).slice(0, 2) as [string, string])))
  .pipe(z.record(z.string(), z.url({ protocol: /^https?$/ })))
  .default({});

/**
 * Every setting of the product: its variable, its check, its default and what it means. Nothing else reads the environment.
 * `.env.example` and the README's table are printed from here (npm run docs).
 */
const settings = {
  HOST: z.string().min(1).default('127.0.0.1').describe('Address to listen on. Anything but loopback needs TLS_CERT or TRUST_PROXY.'),
  PORT: z.coerce.number().int().min(0).max(65535).default(4000).describe('Port to listen on.'),
  DATA_DIR: z.string().min(1).default('.data').describe('Folder of the embedded database and credentials.json.'),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }).nullable().default(null).describe('PostgreSQL 17 or newer with pgvector. Without it the embedded database is used.'),
  DATABASE_POOL_MAX: count(10).describe('Connections to PostgreSQL per process.'),
  SEED_DEMO: flag.default(true).describe('Create the demo organization at the first start.'),
  NODE_ENV: z.string().default('production').describe('"development" turns on GraphiQL and introspection.'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info').describe('How much is logged.'),

  BASE_URL: origin.describe('Origin that clients reach the main API by; binds its paths to that host.'),
  MARKETPLACE_URL: origin.describe('Origin of the public marketplace.'),
  ORG_URL: origin.describe('Origin of the per-organization console.'),
  LEARN_URL: origin.describe('Origin of the learning area.'),
  ADMIN_URL: origin.describe('Origin of the growth-track workspace.'),
  TLS_CERT: text.describe('PEM file of the certificate; with TLS_KEY the listener speaks HTTPS.'),
  TLS_KEY: text.describe('PEM file of the private key.'),
  HTTP_REDIRECT_PORT: z.coerce.number().int().min(0).max(65535).nullable().default(null).describe('Port of a plain listener that answers 301 to HTTPS.'),
  TRUST_PROXY: z.string().nullable().default(null).describe('"true" for one proxy before this server, or a comma-separated list of proxy addresses, whose X-Forwarded-* headers count.'),
  METRICS_TOKEN: text.describe('Bearer token for GET /metrics when the listener is not on loopback.'),
  INTROSPECTION: flag.nullable().default(null).describe('Allow GraphQL introspection; by default only outside production.'),

  CURSOR_TTL_SECONDS: seconds(86_400).describe('How long a cursor lives.'),
  IDEMPOTENCY_TTL_SECONDS: seconds(86_400).describe('How long an Idempotency-Key is remembered.'),
  EXPORT_TTL_SECONDS: seconds(3600).describe('How long the address of a finished export is valid.'),
  EVENT_RETENTION_SECONDS: seconds(2_592_000).describe('How long events are kept for replay.'),
  SESSION_TTL_SECONDS: seconds(43_200).describe('How long a session lives after its last use.'),
  STEP_UP_TTL_SECONDS: seconds(1800).describe('How long a code from the authenticator counts.'),
  TOTP_FAILURES_MAX: count(5).describe('So many wrong codes within TOTP_LOCK_SECONDS lock the step-up.'),
  TOTP_LOCK_SECONDS: seconds(900).describe('How long wrong codes are counted, and how long a lock holds.'),
  SIGN_IN_FAILURES_MAX: count(10).describe('So many wrong passwords for an account within SIGN_IN_LOCK_SECONDS; an address gets ten times as many.'),
  SIGN_IN_LOCK_SECONDS: seconds(900).describe('How long wrong passwords are counted, and how long a lock holds.'),
  OAUTH_ACCESS_TTL_SECONDS: seconds(900).describe('How long an OAuth access token lives.'),
  OAUTH_REFRESH_TTL_SECONDS: seconds(2_592_000).describe('How long an unused OAuth refresh token lives.'),

  RATE_LIMIT_PROFILE: z.enum(['guide', 'overview', 'off']).default('guide').describe('Which table of rate limits holds; "off" for none.'),
  RATE_LIMIT_FILE: text.describe('JSON file with figures that replace those of the profile.'),
  REDIS_URL: z.url({ protocol: /^rediss?$/ }).nullable().default(null).describe('Redis that several gateways count rate limits in; without it each counts for itself.'),
  QUOTA_REQUESTS_PER_MONTH: z.coerce.number().int().min(1).nullable().default(null).describe('Requests of an organization in a calendar month (UTC).'),
  QUOTA_STORED_BYTES: z.coerce.number().int().min(1).nullable().default(null).describe('Bytes of memory content that an organization may hold.'),
  QUOTA_COMPUTE_SECONDS: z.coerce.number().min(1).nullable().default(null).describe('Seconds of background processing of an organization in a calendar month (UTC).'),

  WEBHOOK_RETRY_SECONDS: schedule('5,300,1800,7200,18000,36000').describe('Pauses before the retries of a delivery, comma-separated.'),
  WEBHOOK_TIMEOUT_SECONDS: seconds(15).describe('How long a receiver may take to answer.'),
  WEBHOOK_DELIVERIES_PER_SECOND: count(100).describe('Deliveries to one webhook in a second at most.'),
  WEBHOOK_DISABLE_SECONDS: seconds(432_000).describe('A webhook that failed without a success for so long is disabled.'),
  WEBHOOK_ROTATION_SECONDS: seconds(86_400).describe('How long the old secret signs beside the new one.'),
  WEBHOOK_ALLOW_PRIVATE: flag.nullable().default(null).describe('Allow webhooks to private and loopback addresses; by default only while listening on loopback, and never in a worker.'),

  GRAPHQL_COST_MAX: count(20_000).describe('Fields that a GraphQL operation can answer at most, counted through its lists.'),
  PERSISTED_ONLY: flag.default(false).describe('Serve the registered GraphQL documents only.'),
  LIVE_CONNECTIONS_PER_ADDRESS: count(5000).describe('WebSocket connections of one client address.'),
  LIVE_SUBSCRIPTIONS_PER_CONNECTION: count(100).describe('Live subscriptions on one WebSocket connection.'),

  MEMORY_SWEEP_SECONDS: seconds(5).describe('How often expired objects are archived and purged.'),
  VAULT_RETENTION_SECONDS: seconds(2_592_000).describe('How long deleted objects are kept before they are removed for good.'),

  EMBEDDER: z.enum(['minilm', 'openai']).default('minilm').describe('"minilm": the bundled model. "openai": any OpenAI-compatible endpoint.'),
  EMBEDDER_URL: z.url().nullable().default(null).describe('Base address of the OpenAI-compatible endpoint, for example https://host/v1.'),
  EMBEDDER_API_KEY: text.describe('Its key.'),
  EMBEDDER_MODEL: text.describe('Its model.'),
  EMBEDDER_DIMENSIONS: count(1536).describe('Dimensions of its vectors.'),
  EMBEDDER_THREADS: count(availableParallelism()).meta({ description: 'Background threads of the bundled model, at the lowest priority.', byDefault: 'one per processor' }),
  VECTOR_EXACT_MAX: count(20_000).describe('Up to so many passages a workspace is scanned exactly; beyond it gets an approximate index.'),
  MEILI_URL: z.url().nullable().default(null).describe('Meilisearch for keyword search; without it (or while it is away) PostgreSQL does it.'),
  MEILI_API_KEY: text.describe('Its key.'),

  SUBGRAPH_URLS: addresses.describe('Subgraphs as services of their own: memory=http://…/graphql,marketplace=…'),
  INTERNAL_SECRET: z.string().min(32).nullable().default(null).describe('Shared by gateway and remote subgraphs; signs who is asking. At least 32 characters.'),
};

const environment = z.object(settings);

export type Config = Camelized<z.output<typeof environment>>;

type Camelized<T> = { readonly [K in keyof T as CamelCase<K & string>]: T[K] };
type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}` ? `${Lowercase<Head>}${Capitalize<CamelCase<Tail>>}` : Lowercase<S>;

/** An invalid setting: the message names each variable and what was expected. */
export class ConfigError extends Error {}

/** An empty variable counts as absent, as in compose files. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.fromEntries(Object.keys(settings).flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
  const parsed = environment.safeParse(given);
  if (!parsed.success) {
    throw new ConfigError(parsed.error.issues.map((issue) => `${String(issue.path[0])}: ${issue.message} (got '${String(given[issue.path[0] as string] ?? '')}')`).join('\n'));
  }
  const values = parsed.data;
  if ((values.TLS_CERT === null) !== (values.TLS_KEY === null)) throw new ConfigError('TLS_CERT and TLS_KEY belong together: set both or none.');
  if (values.EMBEDDER === 'openai' && (values.EMBEDDER_URL === null || values.EMBEDDER_MODEL === null)) {
    throw new ConfigError('EMBEDDER=openai needs EMBEDDER_URL and EMBEDDER_MODEL.');
  }
  if (!isLoopback(values.HOST) && values.TLS_CERT === null && values.TRUST_PROXY === null) {
    throw new ConfigError(`HOST: refusing to serve plain HTTP on '${values.HOST}'. Set TLS_CERT and TLS_KEY, or TRUST_PROXY=true behind a proxy that speaks HTTPS.`);
  }
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [camelCase(name), value])) as Config;
}

/** Whether an address to listen on is reached from this machine alone. */
export const isLoopback = (host: string): boolean => ['127.0.0.1', '::1', 'localhost'].includes(host);

const camelCase = (name: string): string => name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

/** Rows for the README and `.env.example`; a default that depends on the machine says in words what it is. */
export const settingRows = (): { name: string; byDefault: string; meaning: string }[] =>
  Object.entries(settings).map(([name, schema]) => {
    const { description = '', byDefault } = schema.meta() ?? {};
    const value = schema.safeParse(undefined).data;
    return { name, byDefault: String(byDefault ?? (value === null || typeof value === 'object' ? '' : value)), meaning: description };
  });
