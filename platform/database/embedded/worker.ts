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
/**
 * The approximate index of 100,000 passages and what it points to are 420 MB. With PostgreSQL's 128 MB a third of a search's
 * 2,400 pages come from files: 50 ms instead of 18. Memory is taken as pages are touched.
 */
const sharedBuffers = '512MB';
const database = await PGlite.create({
  dataDir: workerData as string,
  extensions: { vector },
  startParams: [...PGlite.defaultStartParams, '-c', 'timezone=UTC', '-c', `shared_buffers=${sharedBuffers}`],
});
let current = 0;

port.on('message', async (message: WireMessage | 'close') => {
  if (message === 'close') return close();
  const { connection, bytes } = message;
  // Only a start-up packet begins with zero. There is one session behind all connections: it must forget the last one.
  if (bytes[0] === 0) {
    current = connection;
    for (const statement of ['rollback', 'discard all']) await answerTo(simpleQuery(statement));
  }
  if (connection !== current) return;
  const answer = await answerTo(bytes);
  port.postMessage({ connection, bytes: answer } satisfies WireMessage, [answer.buffer]);
});
port.postMessage('open');

/**
 * Runs to its end before it returns: a message that arrives meanwhile finds the session free. Not `execProtocolRawSync`,
 * which also parses what it answers and keeps every row of it for ever: 7 KB for each object stored (PGlite 0.5.8).
 */
async function answerTo(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  // PGlite lends 8 KB at a time of its own memory.
  await database.execProtocolRawStream(bytes, { syncToFs: false, onRawData: (part) => parts.push(new Uint8Array(part)) });
  if (parts.length === 1) return parts[0]!;
  const answer = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    answer.set(part, offset);
    offset += part.length;
  }
  return answer;
}

async function close(): Promise<void> {
  await database.close();
  process.exit(0);
}

function simpleQuery(statement: string): Uint8Array {
  const message = Buffer.from(`Q____${statement}\0`);
  message.writeInt32BE(message.length - 1, 1);
  return message;
}
