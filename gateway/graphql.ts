import { ApolloServer, HeaderMap } from '@apollo/server';
import { ApolloServerPluginLandingPageDisabled } from '@apollo/server/plugin/disabled';
import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError } from 'graphql';
import type { Config } from '#platform/config.ts';
import type { Answer, RequestContext } from '#platform/context.ts';
import { DomainError } from '#platform/errors.ts';
import { allowsIntrospection, documentTokensMax, measureRules } from './document-rules.ts';
import { costOf, refusedCost } from './operation-cost.ts';
import { PersistedDocuments } from './persisted-documents.ts';
import type { Named } from './persisted-documents.ts';
import { presentError } from './present-error.ts';
import type { Pipeline } from './pipeline.ts';
import { graphOperationOf } from './rate-limits/graph-operation.ts';
import type { Supergraph } from './supergraph/supergraph.ts';

const bodyBytesMax = 128 * 1_048_576;

/** `/graphql` by the GraphQL-over-HTTP specification; GraphiQL for browsers in development. */
export async function mountGraphql(http: FastifyInstance, supergraph: Supergraph, pipeline: Pipeline, config: Config): Promise<{ stop(): Promise<void> }> {
  const isDevelopment = config.nodeEnv === 'development';
  // By the one part of a context that Apollo does not copy.
  const exchanges = new WeakMap<Answer, Exchange>();
  const persisted = new PersistedDocuments(config.persistedOnly);
  const apollo = new ApolloServer<RequestContext>({
    gateway: {
      load: async () => ({ executor: supergraph.gateway.executor as never }),
      onSchemaLoadOrUpdate: (tell) => {
        tell({ apiSchema: supergraph.schema, coreSupergraphSdl: '' });
        return () => {};
      },
      stop: async () => {},
    },
    introspection: allowsIntrospection(config),
    // Credentials travel in the Authorization header only, which no foreign page can send unasked: it proves as much as Apollo's own header.
    csrfPrevention: { requestHeaders: ['authorization', 'x-apollo-operation-name', 'apollo-require-preflight'] },
    parseOptions: { maxTokens: documentTokensMax },
    validationRules: [...measureRules],
    // Documents are registered with the product, not by whoever comes first.
    persistedQueries: false,
    stopOnTerminationSignals: false,
    formatError: presentError,
    plugins: [
      ApolloServerPluginLandingPageDisabled(),
      {
        requestDidStart: async () => ({
          didResolveOperation: async ({ document, operation, contextValue, request }) => {
            if (operation === undefined) {
              const message = 'There is no operation of that name, or it is not the only one and no name was given.';
              throw new GraphQLError(message, { extensions: { code: 'OPERATION_RESOLUTION_FAILURE', http: { status: 400 } } });
            }
            const exchange = exchanges.get(contextValue.answer)!;
            exchange.isCounted = true;
            const counted = graphOperationOf(document, operation);
            const refusal = await pipeline.countOperation(exchange.request, exchange.reply, counted).then(() => null, refusalOf);
            if (refusal !== null) {
              exchange.reply.headers(retryAfter(refusal));
              throw withStatus(refusal);
            }
            exchange.isSingle = counted.fields.length === 1;
            const tooDear = refusedCost(costOf(supergraph.schema, document, operation, request.variables ?? {}), config.graphqlCostMax);
            if (tooDear !== null) throw withStatus(tooDear);
            if (operation.operation !== 'subscription') return;
            throw new GraphQLError('Subscriptions do not run over plain HTTP.', { extensions: { code: 'BAD_REQUEST', http: { status: 400 } } });
          },
          // Every error names the request it belongs to.
          willSendResponse: async ({ response, contextValue }) => {
            if (response.body.kind !== 'single') return;
            const exchange = exchanges.get(contextValue.answer)!;
            const { data } = response.body.singleResult;
            // Of several mutations one may have been done although their answers fell away together.
            if (exchange.isSingle && Object.values(data ?? {}).every((value) => value === null)) await pipeline.giveBackUnused(exchange.request, exchange.reply);
            for (const error of response.body.singleResult.errors ?? []) Object.assign(error.extensions!, { request_id: error.extensions!.request_id ?? contextValue.requestId });
          },
        }),
      },
    ],
    logger: { debug: () => {}, info: () => {}, warn: (message) => http.log.warn(message), error: (message) => http.log.error(message) },
  });
  await apollo.start();

  http.route({
    method: ['GET', 'POST'],
    url: '/graphql',
    bodyLimit: bodyBytesMax,
    config: { entrance: 'graph' },
    handler: async (request, reply) => {
      if (isDevelopment && request.method === 'GET' && request.headers.accept?.includes('text/html')) {
        return reply.type('text/html; charset=utf-8').send(renderGraphiQL({ endpoint: '/graphql', title: 'Quadrivium' }));
      }
      const context = pipeline.contextOf(request);
      const exchange: Exchange = { request, reply, isCounted: false, isSingle: false };
      exchanges.set(context.answer, exchange);
      const headers = new HeaderMap();
      for (const [name, value] of Object.entries(request.headers)) if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
      const named = nameDocument(request, persisted);
      const refuse = (refusal: DomainError) => reply.code(refusal.status).headers(retryAfter(refusal)).send({ errors: [{ message: refusal.message, extensions: { ...refusal.extensions, request_id: request.id } }] });
      const countRead = () => pipeline.countOperation(request, reply, { kind: 'read', fields: [] }).then(() => null, refusalOf);
      if (named instanceof DomainError) return refuse((await countRead()) ?? named);
      const answer = await apollo.executeHTTPGraphQLRequest({ httpGraphQLRequest: { method: request.method, headers, ...named }, context: async () => context });
      // A document that was never resolved is a read too.
      if (!exchange.isCounted) {
        const refusal = await countRead();
        if (refusal !== null) return refuse(refusal);
      }
      if (context.answer.replayed) reply.header('idempotent-replayed', 'true');
      for (const [name, value] of answer.headers) reply.header(name, value);
      reply.code(answer.status ?? 200);
      return answer.body.kind === 'complete' ? answer.body.string : '';
    },
  });
  return apollo;
}

/** The request with its document as text, wherever it only named one. */
function nameDocument(request: FastifyRequest, persisted: PersistedDocuments): { search: string; body: unknown } | DomainError {
  try {
    const { search, searchParams } = new URL(request.url, 'http://local');
    const body = bodyOf(request);
    if (request.method === 'GET') return { search: `?${new URLSearchParams(Object.entries(inText(Object.fromEntries(searchParams), persisted)))}`, body };
    return { search, body: typeof body === 'object' && body !== null && !Array.isArray(body) ? inText(body, persisted) : body };
  } catch (error) {
    return refusalOf(error);
  }
}

function inText<T extends object>(asked: T, persisted: PersistedDocuments): T {
  const { documentId, extensions, ...rest } = asked as T & Named;
  const query = persisted.textOf({ query: rest.query, documentId, extensions: typeof extensions === 'string' ? jsonOf(extensions) : extensions });
  return { ...rest, ...(query !== undefined && { query }) } as unknown as T;
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** What the steps of an operation need of the request that it came in. */
interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  isCounted: boolean;
  /** One mutation and nothing else. */
  isSingle: boolean;
}

/** Apollo answers 500 to what a plugin throws, unless it is told otherwise. */
const withStatus = ({ message, extensions, status }: DomainError): GraphQLError => new GraphQLError(message, { extensions: { ...extensions, http: { status } } });

/** What is no refusal is thrown on. */
function refusalOf(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  throw error;
}

const retryAfter = ({ fields: { retry_after_seconds: seconds } }: DomainError): Record<string, string> => (seconds === undefined ? {} : { 'retry-after': String(seconds) });

/** Apollo judges what is no JSON; it wants it unparsed then. */
function bodyOf(request: FastifyRequest): unknown {
  const text = (request.body as Buffer | undefined)?.toString('utf8') ?? '';
  if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
