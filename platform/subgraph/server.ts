import Fastify from 'fastify';
import { execute, parse, validate } from 'graphql';
import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { closeHttp } from '../close-http.ts';
import type { Config } from '../config.ts';
import { ConfigError } from '../config.ts';
import type { Process } from '../process.ts';
import { maskFaults } from './mask-faults.ts';
import { buildSubgraph } from './schema.ts';
import { verifyRequest } from './signed-request.ts';
import type { OpenSubgraph } from './subgraph.ts';

/** What a batch of 100 objects of 1 MB may need as JSON. */
const bodyBytesMax = 256 * 1_048_576;

/**
 * A subgraph behind HTTP, for the gateway alone: requests without its signature are refused. The gateway's fetches are few
 * and fixed, so each is parsed and validated once.
 */
export async function serveSubgraph(open: OpenSubgraph, process: Process, config: Config, logger: Logger): Promise<{ stop(): Promise<void> }> {
  if (config.internalSecret === null) throw new ConfigError('INTERNAL_SECRET: a subgraph needs it to know its gateway.');
  const secret = config.internalSecret;
  const { schema } = await buildSubgraph(open.subgraph);
  const documents = new LRUCache<string, DocumentNode>({ max: 1000 });

  // The gateway has judged the callers' objects already; any key may be in them.
  const http = Fastify({ bodyLimit: bodyBytesMax, forceCloseConnections: 'idle', onProtoPoisoning: 'ignore', onConstructorPoisoning: 'ignore' });
  http.get('/healthz', async () => ({ status: 'ok' }));
  http.get('/readyz', async (_request, reply) => {
    const isReady = await process.database.execute('select 1').then(() => true, () => false);
    return reply.code(isReady ? 200 : 503).send({ status: isReady ? 'ready' : 'unavailable' });
  });
  http.post('/graphql', async (request, reply) => {
    const caller = verifyRequest(request.headers.authorization, secret, process.platform.clock);
    if (caller === null) return reply.code(401).send({ errors: [{ message: 'This address is for the gateway.', extensions: { code: 'unauthenticated', status: 401 } }] });
    const { query, variables } = request.body as { query: string; variables?: Record<string, unknown> };
    const context = open.contextOf(caller);
    let document = documents.get(query);
    if (document === undefined) {
      document = parse(query);
      const errors = validate(schema, document);
      if (errors.length > 0) return { errors };
      documents.set(query, document);
    }
    const result = maskFaults(await execute({ schema, document, variableValues: variables ?? {}, contextValue: context }), context);
    if (caller.answer.replayed) reply.header('idempotent-replayed', 'true');
    return result;
  });
  await http.listen({ host: config.host, port: config.port });
  logger.info({ subgraph: open.subgraph.name, port: config.port }, 'listening for the gateway');
  return { stop: () => closeHttp(http) };
}
