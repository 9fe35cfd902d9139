import Fastify from 'fastify';
import { parse } from 'graphql';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { readConfig } from '#platform/config.ts';
import type { Pipeline } from '../../gateway/pipeline.ts';
import { mountRest } from '../../gateway/rest/mount.ts';
import { openApiOf } from '../../gateway/rest/openapi.ts';
import { referencePage } from '../../gateway/rest/reference-page.ts';
import { route } from '../../gateway/rest/route.ts';
import type { Supergraph } from '../../gateway/supergraph/supergraph.ts';

const common = { method: 'GET', area: 'base', tag: 'Test', entrance: 'public', variables: () => ({}), status: 200, answer: z.object({}), present: () => ({}) } as const;
const rows = [
  route({ ...common, path: '/v1/old', summary: 'The old one', document: parse('query ShowOld { a }'), deprecated: { since: '2026-05-01', sunset: '2027-05-01', replacement: '/v2/new' } }),
  route({ ...common, path: '/v2/new', summary: 'The new one', document: parse('query ShowNew { a }') }),
];

let http: FastifyInstance;
beforeAll(() => {
  http = Fastify();
  http.addHook('onRequest', async (request, reply) => (request.headers.authorization === 'wrong' ? reply.code(401).send({}) : undefined));
  // What the graph answers is not looked at here.
  const supergraph = { prepare: () => ({}), run: async () => ({ data: {} }) } as unknown as Supergraph;
  const pipeline = { admit: async () => ({ answer: { replayed: false } }) } as unknown as Pipeline;
  mountRest(http, rows, supergraph, pipeline, readConfig({}));
});
afterAll(() => http.close());

it('tells on every answer of a deprecated row since when, until when, and what to use instead', async () => {
  for (const headers of [{}, { authorization: 'wrong' }]) {
    expect((await http.inject({ url: '/v1/old', headers })).headers).toMatchObject({
      deprecation: '@1777593600',
      sunset: 'Sat, 01 May 2027 00:00:00 GMT',
      link: '</v2/new>; rel="successor-version", </docs#showOld>; rel="deprecation"; type="text/html"',
    });
  }
  const { headers } = await http.inject({ url: '/v2/new' });
  for (const name of ['deprecation', 'sunset', 'link']) expect(headers).not.toHaveProperty(name);
});

it('marks it in the description and in the reference', () => {
  const description = openApiOf(rows);
  expect(description.paths['/v1/old']).toMatchObject({ get: { deprecated: true, description: expect.stringContaining('/v2/new') } });
  expect(description.paths['/v2/new']!['get']).not.toHaveProperty('deprecated');
  const page = referencePage(description);
  expect(page).toContain('<article id="showOld">');
  expect(page.match(/Deprecated since 2026-05-01, ends on 2027-05-01: use \/v2\/new\./g)).toHaveLength(1);
});
