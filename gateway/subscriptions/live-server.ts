import { getOperationAST, GraphQLError, parse, specifiedRules, validate } from 'graphql';
import type { DocumentNode, FieldNode, GraphQLFormattedError, OperationDefinitionNode } from 'graphql';
import type { SubscribePayload } from 'graphql-ws';
import { LRUCache } from 'lru-cache';
import { randomUUID } from 'node:crypto';
import type { Config } from '#platform/config.ts';
import type { Client, RequestContext } from '#platform/context.ts';
import { DomainError } from '#platform/errors.ts';
import type { Principal } from '#platform/principal.ts';
import type { LiveField, Subgraph } from '#platform/subgraph/subgraph.ts';
import { documentRules, documentTokensMax } from '../document-rules.ts';
import { costOf, refusedCost } from '../operation-cost.ts';
import { PersistedDocuments } from '../persisted-documents.ts';
import type { Pipeline } from '../pipeline.ts';
import { presentError } from '../present-error.ts';
import type { Prepared, Supergraph } from '../supergraph/supergraph.ts';
import { argumentsOf, asQuery, entityVariable, rootFieldOf } from './live-document.ts';
import { Moment, topicOf } from './live-hub.ts';
import type { LiveHub } from './live-hub.ts';
import { LiveStream } from './live-stream.ts';

/** A WebSocket connection, as subscriptions see it. */
export interface LiveConnection {
  readonly client: Client;
  readonly authorization: string | undefined;
  /** What it has open. graphql-ws knows a stream by the client's id, and of two with one id only the last. */
  readonly streams: Set<LiveStream>;
  /** The credential counts no more. */
  forbid(): void;
}

interface LiveServerOptions {
  readonly supergraph: Supergraph;
  readonly subgraphs: readonly Subgraph[];
  readonly pipeline: Pipeline;
  readonly hub: LiveHub;
  readonly config: Config;
}

type Question = Prepared<Record<string, unknown>, Record<string, unknown>>;

/** A subscription's document, checked and planned once for all who send it. */
interface Known {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly field: FieldNode;
  readonly live: LiveField;
  readonly question: Question;
}

const documentsMax = 500;

/**
 * Opens subscriptions. A subscription is its query, answered again at each event by the whole supergraph with a credential
 * that is authenticated anew, so that what may be seen is decided each time and the selection may cross areas.
 */
export class LiveServer {
  readonly #options: LiveServerOptions;
  readonly #fields: Readonly<Record<string, LiveField>>;
  /** By field: whether what is waited for has happened, and the entity's own id. */
  readonly #present: ReadonlyMap<string, Question>;
  readonly #documents = new LRUCache<string, Known>({ max: documentsMax });
  readonly #rules;
  readonly #persisted: PersistedDocuments;

  constructor(options: LiveServerOptions) {
    this.#options = options;
    this.#fields = Object.assign({}, ...options.subgraphs.map(({ live }) => live)) as Record<string, LiveField>;
    this.#present = new Map(
      Object.entries(this.#fields).map(([name, { query, argument, selection }]) => {
        const text = `query ($${entityVariable}: ID!) { entity: ${query}(${argument}: $${entityVariable}) ${selection} }`;
        return [name, options.supergraph.prepare(parse(text)) as unknown as Question];
      }),
    );
    this.#persisted = new PersistedDocuments(options.config.persistedOnly);
    this.#rules = [...specifiedRules, ...documentRules(options.config)];
  }

  /** The stream, or the errors for which there is none. */
  async open(connection: LiveConnection, payload: SubscribePayload): Promise<LiveStream | readonly GraphQLError[]> {
    const requestId = `req_${randomUUID()}`;
    try {
      return await this.#open(connection, payload, requestId);
    } catch (error) {
      // A syntax or validation error of graphql-js has a code of none of ours.
      if (error instanceof GraphQLError) return [asGraphqlError({ message: error.message, extensions: { code: 'validation_error', status: 400 } }, requestId)];
      if (error instanceof DomainError) return [asGraphqlError({ message: error.message, extensions: error.extensions }, requestId)];
      throw error;
    }
  }

  async #open(connection: LiveConnection, payload: SubscribePayload, requestId: string): Promise<LiveStream | readonly GraphQLError[]> {
    const { pipeline, supergraph, hub, config } = this.#options;
    const principal = await pipeline.authenticateSocket(connection.authorization, connection.client.address);
    await pipeline.countSocketOperation(principal, connection.client.address, { kind: 'read', fields: [] });
    const { document, operation, field, live, question } = this.#known(payload);
    const given = payload.variables ?? {};
    const tooDear = refusedCost(costOf(supergraph.schema, document, operation, given), config.graphqlCostMax);
    if (tooDear !== null) throw tooDear;
    const args = argumentsOf(supergraph.schema, operation, field, given);
    const requestOf = (who: Principal | null): RequestContext => ({ principal: who, requestId, idempotency: null, client: connection.client, answer: { replayed: false } });

    const entityOf = async (): Promise<{ id: string; hasHappened: boolean } | readonly GraphQLError[]> => {
      const { data, errors } = await supergraph.run(this.#present.get(field.name.value)!, { [entityVariable]: args[live.argument] }, requestOf(principal));
      if (errors?.length) return errors.map((error) => presented(error, requestId, [(field.alias ?? field.name).value]));
      const entity = data!['entity'] as Record<string, unknown>;
      return { id: String(entity[live.id]), hasHappened: live.hasHappened(entity as never) };
    };

    // Old ids lead to the entity; its own id is what events name.
    const entity = await entityOf();
    if ('length' in entity) return entity;
    const variables = { ...given, [entityVariable]: entity.id };
    const answerTo = async (moment: Moment) => {
      const who = await moment.once(`principal ${connection.authorization}`, () => this.#authenticate(connection));
      if (who === undefined) {
        connection.forbid();
        return null;
      }
      const key = JSON.stringify([question.queryHash, who?.credentialId, variables]);
      const result = await moment.once(key, () => supergraph.run(question, variables, requestOf(who)));
      // Nothing is left of it: it was deleted, or is out of reach now.
      const isLast = Object.values(result.data ?? {}).every((value) => value == null);
      return { result: { ...result, ...(result.errors && { errors: result.errors.map((error) => presented(error, requestId)) }) }, isLast };
    };
    const leave = hub.subscribe(topicOf(live.event, entity.id), { push: (moment) => stream.push(moment) });
    const stream: LiveStream = new LiveStream(answerTo, () => {
      leave();
      connection.streams.delete(stream);
    });
    connection.streams.add(stream);
    // From here on no event is missed; what happened since the first look is seen by the second.
    const now = await entityOf();
    if (!('length' in now) && now.hasHappened) stream.push(new Moment());
    return stream;
  }

  /** Undefined: the credential counts no more. */
  async #authenticate({ authorization }: LiveConnection): Promise<Principal | null | undefined> {
    try {
      return await this.#options.pipeline.reauthenticateSocket(authorization);
    } catch (error) {
      if (error instanceof DomainError && error.code === 'unauthenticated') return undefined;
      throw error;
    }
  }

  #known({ query: given, operationName, extensions }: SubscribePayload): Known {
    const query = String(this.#persisted.textOf({ query: given, extensions }));
    const key = JSON.stringify([query, operationName ?? null]);
    const cached = this.#documents.get(key);
    if (cached !== undefined) return cached;
    const { supergraph } = this.#options;
    const document = parse(query, { maxTokens: documentTokensMax });
    const [error] = validate(supergraph.schema, document, this.#rules);
    if (error) throw error;
    const operation = getOperationAST(document, operationName);
    if (!operation) throw new GraphQLError('There is no operation of that name, or it is not the only one and no name was given.');
    if (operation.operation !== 'subscription') throw new GraphQLError('Only subscriptions run over a WebSocket; send queries and mutations to POST /graphql.');
    const field = rootFieldOf(document, operation);
    const live = this.#fields[field.name.value]!;
    const known = { document, operation, field, live, question: supergraph.prepare(asQuery(document, operation, live)) as unknown as Question };
    this.#documents.set(key, known);
    return known;
  }
}

/** In our codes, and with the request that it belongs to. A remote subgraph's errors are plain objects. */
const presented = ({ message, extensions, path }: Pick<GraphQLError, 'message' | 'path'> & { extensions?: GraphQLFormattedError['extensions'] }, requestId: string, shownPath = path): GraphQLError =>
  asGraphqlError({ ...presentError({ message, ...(extensions && { extensions }) }), ...(shownPath && { path: shownPath }) }, requestId);

const asGraphqlError = ({ message, extensions, path }: Omit<GraphQLFormattedError, 'locations'>, requestId: string): GraphQLError =>
  new GraphQLError(message, { extensions: { ...extensions, request_id: extensions?.['request_id'] ?? requestId }, ...(path && { path }) });
