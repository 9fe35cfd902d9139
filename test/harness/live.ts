import { once } from 'node:events';
import { createClient } from 'graphql-ws';
import type { Client, FormattedExecutionResult } from 'graphql-ws';
import { expect } from 'vitest';
import { WebSocket } from 'ws';
import type { Target } from './server.ts';

/** What a subscription brought: answers in order, then perhaps an error, then its end. */
export interface Live extends AsyncDisposable {
  /** The next answer, or a failure after 60 s. */
  next(): Promise<FormattedExecutionResult<Record<string, unknown>, unknown>>;
  /** Resolves with what ended the connection. */
  readonly closed: Promise<{ code: number; reason: string }>;
}

const memoryProcessed = 'subscription ($id: ID!) { memoryProcessed(id: $id) { id status processing { embeddingStatus } } }';

/** Subscribes as an independent client library does, with a connection of its own. */
export function subscribe(server: Pick<Target, 'baseUrl'>, key: string | null, id: string, query = memoryProcessed): Live {
  let close!: (ended: { code: number; reason: string }) => void;
  const closed = new Promise<{ code: number; reason: string }>((resolve) => (close = resolve));
  const client: Client = createClient({
    url: socketUrl(server),
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    ...(key !== null && { connectionParams: { authorization: `Bearer ${key}` } }),
    on: { closed: (event) => close({ code: (event as CloseEvent).code, reason: (event as CloseEvent).reason }) },
  });
  const iterator = client.iterate<Record<string, unknown>>({ query, variables: query.includes('$id') ? { id } : {} });
  return {
    closed,
    next: async () => {
      const { value, done } = await Promise.race([iterator.next(), timeout()]);
      return done ? expect.fail('the subscription has ended') : value;
    },
    [Symbol.asyncDispose]: async () => {
      await client.dispose();
    },
  };
}

const timeout = (): Promise<never> =>
  new Promise((_resolve, reject) => {
    AbortSignal.timeout(60_000).addEventListener('abort', () => reject(new Error('nothing came within 60 s')));
  });

export const socketUrl = ({ baseUrl }: Pick<Target, 'baseUrl'>): string => `${baseUrl.replace(/^http/, 'ws')}/graphql`;

/** A connection below the client library: what was said, and how it ended. */
export async function rawSocket(server: Pick<Target, 'baseUrl'>, headers: Record<string, string> = {}, protocol = 'graphql-transport-ws') {
  const socket = new WebSocket(socketUrl(server), protocol, { headers });
  const messages: { type: string }[] = [];
  socket.on('message', (data) => messages.push(JSON.parse(String(data)) as { type: string }));
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  await once(socket, 'open');
  socket.on('error', () => {});
  return { socket, messages, closed, send: (message: unknown) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)) };
}

/** The status with which an upgrade was refused. */
export async function refusedUpgrade(server: Pick<Target, 'baseUrl'>, headers: Record<string, string> = {}): Promise<number> {
  const socket = new WebSocket(socketUrl(server), 'graphql-transport-ws', { headers });
  const opened = once(socket, 'open').then(() => expect.fail('the connection was opened'));
  const refused = once(socket, 'unexpected-response').then(([, response]) => (response as { statusCode: number }).statusCode);
  socket.on('error', () => {});
  return Promise.race([refused, opened]);
}
