import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';

/**
 * PGlite on a thread of its own, so that a long statement does not stop the main loop. It speaks PostgreSQL's wire protocol
 * with the `pg` driver on the main thread: what arrives are whole protocol messages of one connection at a time.
 */
export interface WireMessage {
  readonly connection: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const port = parentPort!;
const database = await PGlite.create({
  dataDir: workerData as string,
  extensions: { vector },
  startParams: [...PGlite.defaultStartParams, '-c', 'timezone=UTC'],
});
let current = 0;

port.on('message', (message: WireMessage | 'close') => {
  if (message === 'close') return void close();
  const { connection, bytes } = message;
  // Only a start-up packet begins with zero. There is one session behind all connections: it must forget the last one.
  if (bytes[0] === 0) {
    current = connection;
    for (const statement of ['rollback', 'discard all']) database.execProtocolRawSync(simpleQuery(statement));
  }
  if (connection !== current) return;
  const written = database.execProtocolRawSync(bytes);
  // The answer to a start-up packet is a view of PGlite's own buffer; all others are ours to hand over.
  const answer = new Uint8Array(written.length < written.buffer.byteLength ? written : (written.buffer as ArrayBuffer));
  port.postMessage({ connection, bytes: answer } satisfies WireMessage, [answer.buffer]);
});
port.postMessage('open');

async function close(): Promise<void> {
  await database.close();
  process.exit(0);
}

function simpleQuery(statement: string): Uint8Array {
  const message = Buffer.from(`Q____${statement}\0`);
  message.writeInt32BE(message.length - 1, 1);
  return message;
}
