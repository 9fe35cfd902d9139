import { afterAll, beforeAll, expect } from 'vitest';
import { as, type HttpClient } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually, whenProcessed } from '../harness/eventually.ts';
import { idsOf, list, retrieve } from '../harness/memory.ts';
import { type Server, startServer } from '../harness/server.ts';
import { expectBody, MemoryObject } from '../harness/shapes.ts';
import { uniqueWord } from '../harness/words.ts';

const rounds = 10;
const word = uniqueWord();
const prefix = `kill ${word}`;

/** One request of the stream: a single store or a batch, with the key to repeat it by. */
interface Write {
  readonly round: number;
  readonly contents: readonly string[];
  readonly key: string;
  /** Known once the answer has come; null when the kill came first. */
  acknowledged: readonly string[] | null;
}

let server: Server;
const writes: Write[] = [];
const acknowledgedCount = () => writes.reduce((count, write) => count + (write.acknowledged?.length ?? 0), 0);

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

function newWrite(round: number): Write {
  const isBatch = writes.length % 2 === 0;
  const contents = Array.from({ length: isBatch ? 10 : 1 }, (_, index) => `${prefix} ${round}.${writes.length}.${index}: a short text about nothing, until its end.`);
  const write: Write = { round, contents, key: uniqueWord(), acknowledged: null };
  writes.push(write);
  return write;
}

async function send(client: HttpClient, write: Write): Promise<void> {
  const headers = { 'idempotency-key': write.key };
  const [single = ''] = write.contents;
  const metadata = { category: `round-${write.round}` };
  const answer =
    write.contents.length === 1
      ? await client.post('/v1/memory/store', { content: single, metadata }, headers)
      : await client.post('/v1/memory/batch', { memories: write.contents.map((content) => ({ content, metadata })) }, headers);
  expect(answer.status, answer.text).toBe(201);
  const body = answer.body as { id?: string; results?: { id: string }[] };
  write.acknowledged = body.results?.map(({ id }) => id) ?? [body.id ?? expect.fail(answer.text)];
}

/** Four clients store without a pause until the server is killed under them, after a random number of answers. */
async function streamUntilKilled(round: number): Promise<void> {
  const client = as(server, 'read_write');
  const target = acknowledgedCount() + 50 + Math.floor(Math.random() * 150);
  let isKilled = false;
  let killed: Promise<void> | undefined;
  const oneClient = async () => {
    while (!isKilled) {
      try {
        await send(client, newWrite(round));
      } catch (error) {
        if (!isKilled) throw error;
      }
      if (acknowledgedCount() >= target && !isKilled) {
        isKilled = true;
        killed = server.kill();
      }
    }
  };
  await Promise.all(Array.from({ length: 4 }, oneClient));
  await killed;
}

/** Every object of ours that the list shows: content by id. */
async function readOurs(client: HttpClient): Promise<Map<string, string>> {
  const contents = new Map<string, string>();
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await list(client, cursor === '' ? { limit: 1000 } : { limit: 1000, cursor });
    await Promise.all(
      page.results.map(async ({ id }) => {
        const { content } = expectBody(await client.get(`/v1/memory/${id}`), 200, MemoryObject);
        if (content.startsWith(prefix)) contents.set(id, content);
      }),
    );
    cursor = page.has_more ? (page.next_cursor ?? null) : null;
  }
  return contents;
}

clause('SOAK-KILL-001', 'decisions §6: ten kills in a stream of stores: everything acknowledged is there in full, nothing is half there or twice', async () => {
  for (let round = 1; round <= rounds; round += 1) {
    await streamUntilKilled(round);
    await server.restart();
    const client = as(server, 'read_write');
    const found = await eventually(async () => {
      const contents = await readOurs(client);
      for (const write of writes) write.acknowledged?.forEach((id, index) => expect(contents.get(id)).toBe(write.contents[index]));
      return contents;
    });
    const stored = [...found.values()];
    expect(new Set(stored).size, `round ${round}: no content twice`).toBe(stored.length);
    const sent = new Set(writes.flatMap((write) => write.contents));
    expect(stored.filter((content) => !sent.has(content)), `round ${round}: none altered or cut`).toEqual([]);
    for (const write of writes) {
      const present = write.contents.filter((content) => stored.includes(content)).length;
      expect([0, write.contents.length], `round ${round}: a batch is there as a whole or not at all`).toContain(present);
    }
  }
});

clause('SOAK-KILL-002', 'decisions §6: repeating with the same key what was never answered has one effect', async () => {
  const client = as(server, 'read_write');
  const unanswered = writes.filter((write) => write.acknowledged === null);
  expect(unanswered.length).toBeGreaterThan(0);
  for (const write of unanswered) await eventually(() => send(client, write));
  const contents = await eventually(async () => {
    const found = await readOurs(client);
    expect(found.size).toBe(acknowledgedCount());
    return found;
  });
  expect([...contents.values()].sort()).toEqual(writes.flatMap((write) => write.contents).sort());
});

clause('SOAK-KILL-003', 'interface §3.1: after the kills processing goes on by itself until every object is completed and found', async () => {
  const client = as(server, 'read_write');
  for (const id of writes.flatMap((write) => write.acknowledged ?? [])) await whenProcessed(client, id, 300_000);
  // Round by round, because a ranking is at most 1,000 deep.
  for (let round = 1; round <= rounds; round += 1) {
    const stored = writes.filter((write) => write.round === round).reduce((count, { contents }) => count + contents.length, 0);
    await eventually(async () => expect((await retrieve(client, { keyword: word, category: `round-${round}`, limit: 1 })).total).toBe(stored));
  }
  const last = writes.at(-1)!.contents[0]!;
  expect(idsOf(await retrieve(client, { keyword: `"${last.slice(0, last.indexOf(':'))}"` }))).toContain(writes.at(-1)!.acknowledged![0]);
});
