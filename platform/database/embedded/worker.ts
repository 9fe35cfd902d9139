import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
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
  startParams: [...PGlite.defaultStartParams, '-c', 'timezone=UTC', '-c', `shared_buffers=${sharedMegabytes(workerData as string)}MB`],
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

/**
 * As much as the tables and indexes take, from PostgreSQL's 128 MB up to 512: with 128, a third of the pages that a search by
 * meaning among 100,000 passages (420 MB) touches came from files, and it took three times as long. Never more than that,
 * because the engine takes all of it at once.
 */
function sharedMegabytes(folder: string): number {
  const tables = join(folder, 'base');
  const files = existsSync(tables) ? readdirSync(tables, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()) : [];
  const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  return Math.min(512, Math.max(128, Math.ceil(bytes / 2 ** 20)));
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
