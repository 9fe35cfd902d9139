import fc from 'fast-check';
import { expect } from 'vitest';
import { z } from 'zod';
import { type Actor, as } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { store } from '../harness/memory.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { ErrorContent, expectShape } from '../harness/shapes.ts';
import { uniqueWord } from '../harness/words.ts';

const server = sharedServer();
const runs = Number(process.env['PROPERTY_RUNS'] ?? 200);

const Parameter = z.looseObject({ name: z.string(), in: z.enum(['path', 'query', 'header', 'cookie']), schema: z.unknown() });
const Operation = z.looseObject({
  parameters: z.array(z.unknown()).default([]),
  requestBody: z.looseObject({ content: z.record(z.string(), z.looseObject({ schema: z.unknown() })) }).optional(),
  responses: z.record(z.string(), z.unknown()),
});
const Description = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) });
/** A batch that stored nothing answers its receipt beside the error. */
const AnyErrorBody = z.looseObject({ error: ErrorContent });
const methods = ['get', 'post', 'put', 'patch', 'delete'];

interface Request {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
  readonly headers: Record<string, string>;
  readonly actor: Actor;
  readonly documented: readonly string[];
}

const text = fc.string({ unit: 'binary', maxLength: 60 }).map((value) => value.toWellFormed());
const actors = fc.constantFrom<Actor>('read_write', 'read_write', 'read_write', 'read_only', 'admin', 'other_read_write', 'nobody');

/** Follows `#/components/…` references of the description. */
const resolver = (description: unknown) => (node: unknown): Record<string, unknown> => {
  let found = node as Record<string, unknown>;
  while (typeof found?.['$ref'] === 'string') {
    found = found['$ref'].slice(2).split('/').reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], description) as Record<string, unknown>;
  }
  return found ?? {};
};

/** Values that a JSON Schema allows, more or less: enough to come past the parser and reach the operation. */
function valueOf(node: unknown, resolve: (node: unknown) => Record<string, unknown>, depth = 4): fc.Arbitrary<unknown> {
  const schema = resolve(node);
  const next = (inner: unknown) => valueOf(inner, resolve, depth - 1);
  if (depth === 0) return fc.jsonValue({ maxDepth: 1 });
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]));
  if ('const' in schema) return fc.constant(schema['const']);
  for (const choice of ['anyOf', 'oneOf']) {
    if (Array.isArray(schema[choice])) return fc.oneof(...(schema[choice] as unknown[]).map(next));
  }
  switch (Array.isArray(schema['type']) ? (schema['type'] as unknown[])[0] : schema['type']) {
    case 'string':
      return schema['format'] === 'date-time' ? fc.date({ noInvalidDate: true }).map((date) => date.toISOString()) : text;
    case 'integer':
      return fc.oneof(fc.integer({ min: 0, max: 100 }), fc.maxSafeInteger());
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(next(schema['items']), { maxLength: 4 });
    case 'object': {
      const properties = (schema['properties'] ?? {}) as Record<string, unknown>;
      const required = (schema['required'] ?? []) as string[];
      const known = fc.record(Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, next(inner)])), { requiredKeys: required.filter((name) => name in properties) });
      return Object.keys(properties).length > 0 ? known : fc.dictionary(text, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 });
    }
    default:
      return fc.jsonValue({ maxDepth: 3 });
  }
}

function requestsOf(description: z.output<typeof Description>, ids: readonly string[]): fc.Arbitrary<Request> {
  const resolve = resolver(description);
  const requests = Object.entries(description.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => methods.includes(method) && /^\/(v1|api\/exports)\b/.test(path) && !(method === 'post' && path === '/api/exports/full'))
      .map(([method, node]) => {
        const operation = Operation.parse(node);
        const shared = Array.isArray(item['parameters']) ? item['parameters'] : [];
        const parameters = [...shared, ...operation.parameters].map((parameter) => Parameter.parse(resolve(parameter)));
        const given = (parameter: z.output<typeof Parameter>) => fc.oneof({ weight: 3, arbitrary: valueOf(parameter.schema, resolve).map(String) }, { weight: 1, arbitrary: text });
        const query = fc.record(Object.fromEntries(parameters.filter((parameter) => parameter.in === 'query').map((parameter) => [parameter.name, given(parameter)])), { requiredKeys: [] });
        const unknown = fc.oneof({ weight: 9, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: fc.dictionary(text, text, { maxKeys: 1 }) });
        const segment = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...ids) }, { weight: 1, arbitrary: text });
        const schema = operation.requestBody?.content['application/json']?.schema;
        const valid = valueOf(schema ?? {}, resolve);
        const spoiled = fc.tuple(valid, text, fc.jsonValue()).map(([value, name, other]) => (typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value, [Object.keys(value)[0] ?? name]: other } : other));
        const body = fc.oneof(
          { weight: 5, arbitrary: valid.map((value) => JSON.stringify(value)) },
          { weight: 3, arbitrary: spoiled.map((value) => JSON.stringify(value)) },
          { weight: 1, arbitrary: text },
        );
        return fc
          .record({ query, unknown, segments: fc.array(segment, { minLength: 3, maxLength: 3 }), body: schema === undefined ? fc.constant(undefined) : body, key: fc.option(text.map((value) => encodeURIComponent(value).slice(0, 40) || 'k')), actor: actors })
          .map(({ query: known, unknown: extra, segments, body: content, key, actor }): Request => {
            const left = segments.values();
            const filled = path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(left.next().value ?? 'x'));
            const search = new URLSearchParams({ ...(known as Record<string, string>), ...extra }).toString();
            return {
              method: method.toUpperCase(),
              path: search === '' ? filled : `${filled}?${search}`,
              body: content,
              headers: { ...(content === undefined ? {} : { 'content-type': 'application/json' }), ...(key === null ? {} : { 'idempotency-key': `${uniqueWord()}${key}` }) },
              actor,
              documented: Object.keys(operation.responses),
            };
          });
      }),
  );
  expect(requests.length).toBeGreaterThan(10);
  return fc.oneof(...requests);
}

clause('PROP-001', 'decisions §4: no request drawn from the API description makes a 5xx; every refusal is documented and has the standard body and X-Request-Id', async () => {
  const client = as(server, 'read_write');
  const ids = [(await store(client, { content: `Property ${uniqueWord()}` })).id, (await store(client, { content: `Property ${uniqueWord()}` })).id, 'mem_unknown'];
  const description = expectShape((await client.get('/openapi.json')).body, Description);
  await fc.assert(
    fc.asyncProperty(requestsOf(description, ids), async ({ method, path, body, headers, actor, documented }) => {
      const answer = await as(server, actor).send(method, path, body, headers);
      expect(answer.status, answer.text).toBeLessThan(500);
      expect(answer.headers.get('x-request-id')).toMatch(/./);
      const isDocumented = documented.some((status) => status === String(answer.status) || status === 'default' || status === `${answer.status}`.replace(/..$/, 'XX'));
      expect(isDocumented, `${answer.status} is documented: ${documented.join(', ')}`).toBe(true);
      if (answer.status < 400) return;
      const { error } = expectShape(answer.body, AnyErrorBody);
      expect(error.status).toBe(answer.status);
      expect(error.request_id).toBe(answer.headers.get('x-request-id'));
    }),
    { numRuns: runs, interruptAfterTimeLimit: 120_000 + runs * 500, markInterruptAsFailure: true },
  );
});

clause('PROP-002', 'interface §2.1: any content and metadata that are stored come back exactly', async () => {
  const client = as(server, 'read_write');
  await fc.assert(
    fc.asyncProperty(text, fc.dictionary(text.filter((key) => !['category', 'department', 'tags', 'source', '__proto__'].includes(key)), fc.jsonValue({ maxDepth: 2 })), async (content, metadata) => {
      const sent = JSON.parse(JSON.stringify({ content: `${content}${uniqueWord()}`, metadata })) as { content: string; metadata: Record<string, unknown> };
      const answer = await client.post('/v1/memory/store', sent);
      if (answer.status === 400) return;
      expect(answer.status, answer.text).toBe(201);
      const { body } = await client.get(`/v1/memory/${(answer.body as { id: string }).id}`);
      expect(body).toMatchObject({ content: sent.content });
      expect((body as { metadata: unknown }).metadata).toEqual(sent.metadata);
    }),
    { numRuns: Math.ceil(runs / 4) },
  );
});
