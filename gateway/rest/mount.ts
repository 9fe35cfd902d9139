import type { FastifyInstance, onSendHookHandler } from 'fastify';
import type { Config } from '#platform/config.ts';
import { DomainError } from '#platform/errors.ts';
import type { Pipeline } from '../pipeline.ts';
import type { Supergraph } from '../supergraph/supergraph.ts';
import { deprecationHeaders } from './deprecation.ts';
import type { Deprecation } from './deprecation.ts';
import { referenceOf } from './openapi.ts';
import { handlerOf } from './route.ts';
import type { AnyRoute, Area } from './route.ts';

const defaultBodyBytesMax = 1_048_576;

/** Gives every row its path. The handler is the same for all. */
export function mountRest(http: FastifyInstance, routes: readonly AnyRoute[], supergraph: Supergraph, pipeline: Pipeline, config: Config): void {
  const refuseForeignHost = hostGuard(config);
  for (const row of routes) {
    const run = handlerOf(row, supergraph, config.baseUrl);
    http.route({
      method: row.method,
      url: row.path,
      bodyLimit: row.bodyBytesMax ?? defaultBodyBytesMax,
      config: { entrance: row.entrance },
      ...(row.deprecated && { onSend: sayDeprecated(row, row.deprecated) }),
      handler: async (request, reply) => {
        refuseForeignHost(row.area, request);
        return run(request, reply, pipeline.contextOf(request));
      },
    });
  }
}

/** On refusals too, whichever step of the pipeline they come from. */
function sayDeprecated(row: AnyRoute, deprecated: Deprecation): onSendHookHandler {
  const headers = deprecationHeaders(deprecated, referenceOf(row));
  return (_request, reply, payload, done) => {
    reply.headers(headers);
    done(null, payload);
  };
}

/** Once an area is bound to a host of its own, its paths are there and nowhere else (decisions 1). */
export function hostGuard(config: Config): (area: Area, request: { readonly host: string }) => void {
  const { baseUrl, marketplaceUrl, orgUrl, learnUrl, adminUrl } = config;
  const origins: Record<Area, string | null> = { base: baseUrl, marketplace: marketplaceUrl, org: orgUrl, learn: learnUrl, admin: adminUrl };
  const homes = new Map(Object.entries(origins).flatMap(([area, origin]) => (origin === null ? [] : [[area, new URL(origin).host]])));
  const bound = new Set(homes.values());
  return (area, request) => {
    if (bound.size === 0) return;
    const { host } = request;
    const home = homes.get(area);
    if (home === undefined ? bound.has(host) : home !== host) throw new DomainError('not_found', 'This path is not served on this host.');
  };
}
