import type { DocumentNode } from 'graphql';
import { z } from 'zod';
import { errorStatus } from '#platform/errors.ts';
import { readVersion } from '../operational.ts';
import { deprecationText } from './deprecation.ts';
import type { AnyRoute } from './route.ts';

export type Json = Readonly<Record<string, unknown>>;

export interface OpenApi {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly Json[];
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly components: Json;
}

/** The OpenAPI 3.1 description of the rows, with the paths that answer without the graph. */
export function openApiOf(routes: readonly AnyRoute[]): OpenApi {
  const paths: Record<string, Record<string, Json>> = {};
  for (const row of routes) (paths[row.path.replace(/:(\w+)/g, '{$1}')] ??= {})[row.method.toLowerCase()] = operationOf(row);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Quadrivium',
      version: readVersion().version,
      description: 'Memory, marketplace, learning and growth tracks. Every response carries X-Request-Id; every error has one shape.',
    },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map(({ tag }) => tag)), 'Operation'].map((name) => ({ name })),
    paths: { ...paths, ...operationalPaths },
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: credentials } },
      headers: limitHeaders,
      responses: { RateLimited: rateLimited },
      schemas: { Error: errorSchema, Problem: problemSchema, StoreMemory: storeMemoryOf(routes) },
    },
  };
}

const credentials =
  'An API key (qk_…), a session of POST /auth/sessions (qs_…), a publisher token of POST /api/publishers (qp_…), or an OAuth 2.0 access token (a JWT).';

function operationOf(row: AnyRoute): Json {
  const writes = row.method !== 'GET';
  const parameters = [
    ...[...row.path.matchAll(/:(\w+)/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    ...queryParameters(row),
    ...(writes ? [{ name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string', minLength: 1, maxLength: 255 }, description: 'Repeating the request with the same key within 24 hours answers the first response again.' }] : []),
  ];
  const statuses = typeof row.status === 'number' ? [row.status] : [201, 400];
  const success = { description: 'Success', content: { 'application/json': { schema: schemaOf(row.answer, 'output') } } };
  return {
    operationId: operationIdOf(row),
    summary: row.summary,
    ...(row.deprecated && { deprecated: true, description: deprecationText(row.deprecated) }),
    tags: [row.tag],
    ...(row.entrance === 'credential' && { security: [{ bearer: [] }] }),
    parameters,
    ...(row.body && { requestBody: { required: true, content: { 'application/json': { schema: schemaOf(row.body, 'input') } } } }),
    responses: {
      ...Object.fromEntries(statuses.map((status) => [status, success])),
      429: { $ref: '#/components/responses/RateLimited' },
      default: { description: 'Refused', content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } },
    },
  };
}

const operationIdOf = ({ document }: AnyRoute): string => nameOf(document).replace(/^./, (letter) => letter.toLowerCase());

/** Where /docs describes a row. */
export const referenceOf = (row: AnyRoute): string => `/docs#${operationIdOf(row)}`;

const nameOf = ({ definitions }: DocumentNode): string => definitions.flatMap((definition) => ('name' in definition && definition.name ? [definition.name.value] : []))[0]!;

function queryParameters(row: AnyRoute): Json[] {
  if (!row.query) return [];
  const schema = schemaOf(row.query, 'input') as { properties: Record<string, Json>; required?: string[] };
  return Object.entries(schema.properties).map(([name, { description, ...rest }]) => ({
    name,
    in: 'query',
    required: schema.required?.includes(name) ?? false,
    ...(description !== undefined && { description }),
    schema: rest,
  }));
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json;
  return rest;
}

function storeMemoryOf(routes: readonly AnyRoute[]): Json {
  const store = routes.find(({ method, path }) => method === 'POST' && path === '/v1/memory/store');
  return store?.body ? schemaOf(store.body, 'input') : {};
}

const errorSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'request_id', 'status'],
      properties: {
        code: { type: 'string', enum: Object.keys(errorStatus) },
        message: { type: 'string' },
        request_id: { type: 'string' },
        status: { type: 'integer' },
        details: { type: 'array', items: { type: 'object', required: ['path', 'message'], properties: { path: { type: 'string' }, message: { type: 'string' } } } },
      },
    },
  },
};

const limitHeader = (description: string, type = 'integer'): Json => ({ description, schema: { type } });

/** On every response that was counted (decisions 7); of the tightest layer. */
const limitHeaders = {
  'X-RateLimit-Limit': limitHeader('The limit in force, without the burst.'),
  'X-RateLimit-Remaining': limitHeader('What is left of it; 0 while the burst is used.'),
  'X-RateLimit-Reset': limitHeader('When all of it is there again, if nothing comes: seconds since 1970.'),
  'X-RateLimit-Scope': { description: 'The tightest layer.', schema: { type: 'string', enum: ['token', 'org', 'endpoint'] } },
  'RateLimit': limitHeader('The same as a structured field (draft-ietf-httpapi-ratelimit-headers).', 'string'),
  'RateLimit-Policy': limitHeader('Every layer that the request counted for, with quota and window.', 'string'),
  'Retry-After': limitHeader('Seconds until the request fits again.'),
};

const problemSchema = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'scope', 'code', 'request_id'],
  properties: {
    type: { type: 'string', format: 'uri' },
    title: { type: 'string' },
    status: { type: 'integer', const: 429 },
    detail: { type: 'string' },
    scope: { type: 'string', enum: ['token', 'org', 'endpoint'] },
    code: { type: 'string', const: 'rate_limit_exceeded' },
    request_id: { type: 'string' },
  },
};

const rateLimited = {
  description: 'A rate limit is used up; repeat after Retry-After.',
  headers: Object.fromEntries(Object.keys(limitHeaders).map((name) => [name, { $ref: `#/components/headers/${name}` }])),
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
};

const plain = (summary: string, statuses: readonly number[] = [200]): Json => ({
  summary,
  tags: ['Operation'],
  parameters: [],
  responses: Object.fromEntries(statuses.map((status) => [status, { description: status === 200 ? 'Success' : 'Not ready' }])),
});

const operationalPaths = {
  '/healthz': { get: plain('Whether the process serves') },
  '/readyz': { get: plain('Whether the database is migrated and every subgraph answers', [200, 503]) },
  '/version': { get: plain('Name, version, API version and commit') },
};
