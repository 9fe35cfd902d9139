import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { acquirePidLock } from './pid-lock.ts';
import type { WireMessage } from './worker.ts';

/** The one session of the embedded database. `connect` makes what the `pg` driver takes for a socket. */
export interface EmbeddedSession {
  connect(): Duplex;
  close(): Promise<void>;
}

export async function openSession(folder: string): Promise<EmbeddedSession> {
  const unlock = acquirePidLock(`${folder}.lock`);
  const streams = new Map<number, WireStream>();
  // The build puts worker.js where worker.ts stands in the source, which Node runs as it is.
  const worker = new Worker(new URL(import.meta.url.replace(/session\.([tj]s)$/, 'worker.$1')), { workerData: folder });
  let failure: Error | null = null;
  worker.once('exit', () => {
    unlock();
    failure ??= new Error('The embedded database has stopped.');
    streams.forEach((stream) => stream.destroy(failure!));
  });
  await once(worker, 'message');
  worker.on('message', ({ connection, bytes }: WireMessage) => streams.get(connection)?.push(Buffer.from(bytes.buffer)));
  worker.on('error', (error) => (failure = error));

  let connections = 0;
  return {
    connect() {
      const connection = (connections += 1);
      const send = (bytes: Buffer<ArrayBuffer>): void => worker.postMessage({ connection, bytes } satisfies WireMessage, [bytes.buffer]);
      const stream = new WireStream(send, () => streams.delete(connection));
      streams.set(connection, stream);
      if (failure !== null) stream.destroy(failure);
      return stream;
    },
    async close() {
      worker.postMessage('close');
      await once(worker, 'exit');
    },
  };
}

/** Looks like a `net.Socket` as far as `pg` uses one. Bytes are copied once and then handed over, not copied, between threads. */
class WireStream extends Duplex {
  readonly #send: (bytes: Buffer<ArrayBuffer>) => void;
  readonly #forget: () => void;

  constructor(send: (bytes: Buffer<ArrayBuffer>) => void, forget: () => void) {
    super();
    this.#send = send;
    this.#forget = forget;
  }

  connect(): this {
    queueMicrotask(() => this.emit('connect'));
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#post([chunk]);
    done();
  }

  /** A statement's parse, bind, describe, execute and sync arrive here together. */
  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this.#post(chunks.map(({ chunk }) => chunk));
    done();
  }

  override _final(done: () => void): void {
    this.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#forget();
    done(error);
  }

  #post(chunks: readonly Buffer[]): void {
    // Not Buffer.concat: small ones would lie in Node's shared pool, which cannot be handed over.
    const bytes = Buffer.allocUnsafeSlow(chunks.reduce((length, chunk) => length + chunk.length, 0));
    let offset = 0;
    for (const chunk of chunks) offset += chunk.copy(bytes, offset);
    this.#send(bytes);
  }
}
