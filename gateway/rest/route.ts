import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { RequestContext } from '#platform/context.ts';
import { refusalOf, validationError } from '#platform/errors.ts';
import { jsonBody } from '../http.ts';
import type { Prepared, Supergraph } from '../supergraph/supergraph.ts';
import type { Deprecation } from './deprecation.ts';
import { refusalOfGraph } from './errors.ts';

/** Which of the contract's five hosts a path belongs to. */
export type Area = 'base' | 'marketplace' | 'org' | 'learn' | 'admin';

type Schema = z.ZodObject | undefined;
type Parsed<S extends Schema> = S extends z.ZodType ? z.output<S> : undefined;

/**
 * A row of the REST table. It says what of a request becomes variables of which document, and what of the data becomes the
 * answer; every rule of the business is behind the graph. The OpenAPI description is printed from the same rows.
 */
export interface Route<Data, Variables, Query extends Schema, Body extends Schema, Answer extends z.ZodType> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Fastify's notation: `/v1/memory/:id`. */
  readonly path: string;
  readonly area: Area;
  readonly tag: string;
  readonly summary: string;
  readonly entrance: 'public' | 'credential';
  readonly deprecated?: Deprecation;
  readonly document: TypedDocumentNode<Data, Variables>;
  readonly query?: Query;
  readonly body?: Body;
  /** Largest request body in bytes; 1 MiB unless the row says otherwise. */
  readonly bodyBytesMax?: number;
  readonly variables: (request: { params: Record<string, string>; query: Parsed<Query>; body: Parsed<Body> }) => Variables;
  readonly status: number | ((data: Data) => number);
  readonly answer: Answer;
  /** `origin` is where the caller reached us, for absolute addresses. */
  readonly present: (data: Data, request: RequestContext, origin: () => string) => z.input<Answer>;
}

/** A row whose types have been checked against each other and then forgotten, so that rows fit one table. */
export type AnyRoute = Route<never, never, Schema, Schema, z.ZodType>;

export const route = <Data, Variables, Answer extends z.ZodType, Query extends Schema = undefined, Body extends Schema = undefined>(
  row: Route<Data, Variables, Query, Body, Answer>,
): AnyRoute => row as unknown as AnyRoute;

/** The one handler of all rows: parse, ask the graph, present. Errors are thrown and rendered in one place. */
export function handlerOf(row: AnyRoute, supergraph: Supergraph, baseUrl: string | null) {
  const prepared = supergraph.prepare(row.document) as unknown as Prepared<never, unknown>;
  const variablesOf = row.variables as (request: unknown) => unknown;
  const present = row.present as (data: unknown, request: RequestContext, origin: () => string) => unknown;
  const status = row.status as number | ((data: unknown) => number);

  return async (request: FastifyRequest, reply: FastifyReply, context: RequestContext): Promise<unknown> => {
    const query = parse(row.query, request.query as object, 'is not a known query parameter');
    const body = parse(row.body, jsonBody(request), 'is not a known field');
    const { data, errors } = await supergraph.run(prepared, variablesOf({ params: request.params, query, body }), context);
    if (context.answer.replayed) reply.header('idempotent-replayed', 'true');
    if (errors?.[0]) throw refusalOfGraph(errors[0]);
    reply.code(typeof status === 'number' ? status : status(data));
    return present(data, context, () => baseUrl ?? `${request.protocol}://${request.host}`);
  };
}

/** What a row does not declare must not be there: a query without parameters, a request without a body. */
function parse(schema: Schema, given: object, unknownMessage: string): unknown {
  if (schema === undefined) {
    const stray = Object.keys(given);
    if (stray.length > 0) throw validationError(stray.map((path) => ({ path, message: unknownMessage })));
    return undefined;
  }
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw refusalOf(parsed.error);
}
