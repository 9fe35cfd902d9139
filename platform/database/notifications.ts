import type { Logger } from 'pino';
import pg from 'pg';

interface Listener {
  readonly channel: string;
  readonly onPayload: (payload: string) => void;
  /** Called whenever listening has begun (again): notifications sent before are lost, so look for yourself. */
  readonly onListening: () => void;
}

/** LISTEN for many listeners over one connection, which `execute` reaches and whose notifications are handed to `deliver`. */
export class Notifications {
  readonly #execute: (text: string) => Promise<unknown>;
  readonly #listeners = new Set<Listener>();

  constructor(execute: (text: string) => Promise<unknown>) {
    this.#execute = execute;
  }

  async listen(listener: Listener): Promise<() => Promise<void>> {
    this.#listeners.add(listener);
    await this.#execute(`listen ${pg.escapeIdentifier(listener.channel)}`);
    listener.onListening();
    return async () => {
      this.#listeners.delete(listener);
      if (![...this.#listeners].some(({ channel }) => channel === listener.channel)) await this.#execute(`unlisten ${pg.escapeIdentifier(listener.channel)}`);
    };
  }

  /** After the connection was replaced. */
  async relisten(): Promise<void> {
    for (const { channel, onListening } of this.#listeners) {
      await this.#execute(`listen ${pg.escapeIdentifier(channel)}`);
      onListening();
    }
  }

  deliver({ channel, payload }: pg.Notification): void {
    for (const listener of this.#listeners) if (listener.channel === channel) listener.onPayload(payload ?? '');
  }
}

const RETRY_MS = 1000;

/** A connection of its own for LISTEN, renewed when it breaks. */
export async function connectNotifications(options: pg.ClientConfig, logger: Logger): Promise<{ notifications: Notifications; close: () => Promise<void> }> {
  let client = new pg.Client(options);
  let retry: NodeJS.Timeout | undefined;
  let closed = false;
  const notifications = new Notifications((text) => client.query(text));

  async function connect(): Promise<void> {
    client = new pg.Client(options);
    client.on('notification', (notification) => notifications.deliver(notification));
    client.on('error', (error) => logger.warn({ err: error }, 'the connection for notifications broke'));
    client.on('end', () => {
      if (!closed) retry = setTimeout(reconnect, RETRY_MS);
    });
    await client.connect();
  }

  function reconnect(): void {
    connect()
      .then(() => notifications.relisten())
      .catch((error: unknown) => logger.warn({ err: error }, 'no connection for notifications; trying again'));
  }

  await connect();
  return {
    notifications,
    async close() {
      closed = true;
      clearTimeout(retry);
      await client.end();
    },
  };
}
