import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ApolloGateway } from '@apollo/gateway';
import type { GraphQLDataSource } from '@apollo/gateway';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print, validate } from 'graphql';
import type { DocumentNode, ExecutionResult, GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import type { RequestContext } from '#platform/context.ts';
import { Planner } from './single-fetch.ts';
import type { SingleFetch } from './single-fetch.ts';

/** A document that was checked and hashed once, so that running it costs only the run. */
export interface Prepared<Data, Variables> {
  readonly document: TypedDocumentNode<Data, Variables>;
  readonly queryHash: string;
  /** The whole plan, when one fetch from one subgraph is all of it. */
  readonly fetch: SingleFetch | null;
}

/** The four areas and the gateway's own identity as one graph. */
export interface Supergraph {
  readonly schema: GraphQLSchema;
  readonly gateway: ApolloGateway;
  /** Throws when the document does not fit the graph: a REST row with a stale document must not boot. */
  prepare<Data, Variables>(document: TypedDocumentNode<Data, Variables>): Prepared<Data, Variables>;
  run<Data, Variables>(prepared: Prepared<Data, Variables>, variables: Variables, request: RequestContext): Promise<ExecutionResult<Data>>;
  stop(): Promise<void>;
}

export async function loadSupergraph(sources: Readonly<Record<string, GraphQLDataSource>>, logger: Logger): Promise<Supergraph> {
  const supergraphSdl = readFileSync(new URL(import.meta.resolve('#supergraph')), 'utf8');
  const gateway = new ApolloGateway({
    supergraphSdl,
    // The stock local source parses and validates every fetch anew, 100 µs each; ours receives the parsed document.
    queryPlannerConfig: { exposeDocumentNodeInFetchNode: true },
    buildService: ({ name }) => sources[name]!,
    logger: quiet(logger),
  });
  await gateway.load();
  const schema = gateway.schema!;
  const planner = new Planner(supergraphSdl);
  return {
    schema,
    gateway,
    prepare: (document) => {
      const [error] = validate(schema, document);
      if (error) throw error;
      return { document, queryHash: hashOf(document), fetch: planner.singleFetch(document, sources) };
    },
    run: ({ document, queryHash, fetch }, variables, request) => {
      if (fetch !== null) return fetch(variables as Record<string, unknown>, request) as Promise<ExecutionResult<never>>;
      return gateway.executor({
        request: { variables: variables as Record<string, unknown> },
        document,
        queryHash,
        context: request as RequestContext & Record<string, unknown>,
        schema,
        metrics: {},
        logger,
        cache: unused,
        operationName: null,
        overallCachePolicy: unused,
      } as never) as Promise<ExecutionResult<never>>;
    },
    stop: () => gateway.stop(),
  };
}

const unused = undefined as never;

const hashOf = (document: DocumentNode): string => createHash('sha256').update(print(document)).digest('hex');

/** The gateway announces itself at info; that is noise in our log. */
const quiet = (logger: Logger) => ({ debug: () => {}, info: () => {}, warn: (message?: unknown) => logger.warn(String(message)), error: (message?: unknown) => logger.error(String(message)) });
