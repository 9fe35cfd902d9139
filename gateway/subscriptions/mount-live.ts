import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import proxyAddress from '@fastify/proxy-addr';
import type { FastifyInstance } from 'fastify';
import { CloseCode, GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws';
import { useServer } from 'graphql-ws/use/ws';
import type { Extra } from 'graphql-ws/use/ws';
import { parse } from 'graphql';
import type { ExecutionArgs } from 'graphql';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import type { Config } from '#platform/config.ts';
import { DomainError } from '#platform/errors.ts';
import { eventChannel } from '#platform/outbox/record-events.ts';
import type { LiveEvent } from '#platform/outbox/record-events.ts';
import type { Database } from '#platform/database/database.ts';
import type { Subgraph } from '#platform/subgraph/subgraph.ts';
import { identityChannel } from '../identity/identity-changed.ts';
import type { Pipeline } from '../pipeline.ts';
import type { Supergraph } from '../supergraph/supergraph.ts';
import { LiveHub, Moment } from './live-hub.ts';
import { LiveServer } from './live-server.ts';
import type { LiveConnection } from './live-server.ts';
import type { LiveStream } from './live-stream.ts';

/** A document and its variables; not a place to send files to. */
const messageBytesMax = 131_072;
/** Answers that a client does not read. One event's is some kilobytes. */
const unreadBytesMax = 1_048_576;
/** A client that answers no ping for so long is gone, or reads so slowly that it might as well be. */
const keepAliveMs = 12_000;
const initTimeoutMs = 5_000;
const closeWithinMs = 2_000;

interface LiveOptions {
  readonly supergraph: Supergraph;
  readonly subgraphs: readonly Subgraph[];
  readonly pipeline: Pipeline;
  readonly database: Database;
  readonly config: Config;
}

export interface Live {
  readonly counts: () => { connections: number; subscriptions: number };
  stop(): Promise<void>;
}

type Held = Extra & { connection?: LiveConnection };

/** Subscriptions by `graphql-transport-ws` on `/graphql`. */
export async function mountLive(http: FastifyInstance, { database, config, ...options }: LiveOptions): Promise<Live> {
  const hub = new LiveHub();
  const live = new LiveServer({ ...options, hub, config });
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: messageBytesMax,
    handleProtocols: (protocols) => (protocols.has(GRAPHQL_TRANSPORT_WS_PROTOCOL) ? GRAPHQL_TRANSPORT_WS_PROTOCOL : false),
  });
  const perAddress = new Map<string, number>();
  const connections = new Set<LiveConnection>();
  const addressOf = clientAddress(config);

  const server = useServer<Record<string, unknown>, { connection?: LiveConnection }>(
    {
      connectionInitWaitTimeout: initTimeoutMs,
      onConnect: async ({ extra, connectionParams }) => {
        const held = extra as Held;
        const authorization = connectionParams?.['authorization'] ?? connectionParams?.['Authorization'] ?? held.request.headers.authorization;
        if (authorization !== undefined && typeof authorization !== 'string') return false;
        const connection: LiveConnection = {
          client: { address: addressOf(held.request), userAgent: held.request.headers['user-agent']?.slice(0, 300) ?? null },
          authorization,
          streams: new Set(),
          forbid: () => held.socket.close(CloseCode.Forbidden, 'The credential is unknown, expired or revoked'),
        };
        if (!(await isAccepted(options.pipeline.authenticateSocket(authorization, connection.client.address)))) return false;
        held.connection = connection;
        connections.add(connection);
        return true;
      },
      onSubscribe: async ({ extra, subscriptions }, _id, payload) => {
        const held = extra as Held;
        // Of the first the one that is being opened is among them.
        if (Object.keys(subscriptions).length > config.liveSubscriptionsPerConnection || held.connection!.streams.size >= config.liveSubscriptionsPerConnection) {
          held.socket.close(CloseCode.TooManyInitialisationRequests, 'Too many subscriptions on one connection');
          return [];
        }
        const opened = await live.open(held.connection!, payload);
        return 'length' in opened ? opened : ({ contextValue: opened, schema: options.supergraph.schema, document: anySubscription } satisfies ExecutionArgs);
      },
      // What onSubscribe opened is the stream itself.
      subscribe: ({ contextValue }) => contextValue as LiveStream,
      onDisconnect: ({ extra }) => {
        const { connection } = extra as Held;
        if (connection === undefined) return;
        connections.delete(connection);
        for (const stream of connection.streams) void stream.return();
      },
    },
    sockets,
    keepAliveMs,
  );

  /** When keys or roles have changed: whose credential counts no more is told at once, not at the next event. */
  const recheck = async (): Promise<void> => {
    const moment = new Moment();
    for (const connection of connections) {
      const { authorization } = connection;
      if (authorization !== undefined && !(await moment.once(authorization, () => isAccepted(options.pipeline.reauthenticateSocket(authorization))))) connection.forbid();
    }
  };

  const stopEvents = await database.listen(
    eventChannel,
    (payload) => hub.publish(JSON.parse(payload) as LiveEvent),
    () => {
      // What was notified while nobody listened is lost: everybody gets the present state.
      const moment = new Moment();
      for (const subscriber of hub.subscribers()) subscriber.push(moment);
    },
  );
  const stopIdentity = await database.listen(identityChannel, () => void recheck().catch((error: unknown) => http.log.error({ err: error }, 'live connections could not be checked anew')));

  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    // Until ws takes it over nobody else listens, and a reset without a listener would end the process.
    socket.on('error', () => socket.destroy());
    void admit(request, socket, head).catch(() => socket.destroy());
  };
  const admit = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    if (new URL(request.url!, 'http://local').pathname !== '/graphql') return refuse(socket, '404 Not Found');
    if (!isOwnOrigin(request, config)) return refuse(socket, '403 Forbidden');
    const address = addressOf(request);
    const held = perAddress.get(address) ?? 0;
    const verdict = await options.pipeline.countConnection(address);
    if (held >= config.liveConnectionsPerAddress || verdict?.refusal) return refuse(socket, '429 Too Many Requests');
    perAddress.set(address, held + 1);
    const leave = (): void => {
      const left = perAddress.get(address)! - 1;
      if (left > 0) perAddress.set(address, left);
      else perAddress.delete(address);
    };
    socket.once('close', leave);
    sockets.handleUpgrade(request, socket, head, (opened: WebSocket) => {
      // Pongs are answered whether the client reads them or not: who lets them pile up is gone.
      const bound = (): void => void (opened.bufferedAmount > unreadBytesMax && opened.terminate());
      opened.on('ping', bound).on('message', bound);
      sockets.emit('connection', opened, request);
    });
  };
  // What else a client offers to upgrade to (HTTP/2 without TLS) is answered as if it had not.
  Object.assign(http.server, { shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket' });
  http.server.on('upgrade', upgrade);

  return {
    counts: () => ({ connections: sockets.clients.size, subscriptions: hub.size }),
    stop: async () => {
      http.server.off('upgrade', upgrade);
      await Promise.all([stopEvents(), stopIdentity()]);
      // A client that does not answer the close is not waited for.
      const impatient = setTimeout(() => sockets.clients.forEach((client) => client.terminate()), closeWithinMs);
      // Closes every connection with 1001, going away.
      await server.dispose();
      clearTimeout(impatient);
    },
  };
}

/** A refusal is an answer; a fault of ours is not. */
const isAccepted = (authenticated: Promise<unknown>): Promise<boolean> =>
  authenticated.then(
    () => true,
    (error: unknown) => {
      if (error instanceof DomainError) return false;
      throw error;
    },
  );

/** graphql-ws reads of a document only that it is a subscription; the stream has read the client's. */
const anySubscription = parse('subscription { any }');

function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}

/** A page of another site must not open sockets in its visitor's name. Programs send no origin. */
function isOwnOrigin({ headers }: IncomingMessage, { baseUrl, marketplaceUrl, orgUrl, learnUrl, adminUrl }: Config): boolean {
  const { origin } = headers;
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  return new URL(origin).host === headers.host || [baseUrl, marketplaceUrl, orgUrl, learnUrl, adminUrl].includes(new URL(origin).origin);
}

/** As Fastify finds the address of a request; an upgrade does not pass it. */
function clientAddress({ trustProxy }: Config): (request: IncomingMessage) => string {
  if (trustProxy === null || trustProxy === 'false') return ({ socket }) => socket.remoteAddress ?? '';
  const trust = trustProxy === 'true' ? (_address: string, hop: number) => hop < 1 : proxyAddress.compile(trustProxy.split(',').map((address) => address.trim()));
  return (request) => proxyAddress(request, trust);
}
