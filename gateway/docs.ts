import type { FastifyInstance } from 'fastify';
import { errorsPage } from './rest/errors-page.ts';
import { openApiOf } from './rest/openapi.ts';
import { referencePage } from './rest/reference-page.ts';
import type { AnyRoute } from './rest/route.ts';

/** The contract as programs read it (/openapi.json) and as people do (/docs), both printed from the rows; the codes of errors (/docs/api-errors). */
export function mountDocs(http: FastifyInstance, routes: readonly AnyRoute[]): void {
  const description = openApiOf(routes);
  const page = referencePage(description);
  const errors = errorsPage();
  http.get('/openapi.json', async () => description);
  http.get('/docs', async (_request, reply) => reply.type('text/html; charset=utf-8').send(page));
  http.get('/docs/api-errors', async (_request, reply) => reply.type('text/html; charset=utf-8').send(errors));
}
