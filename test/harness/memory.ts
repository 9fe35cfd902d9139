import { expect } from 'vitest';
import type { HttpClient } from './actors.ts';
import { BatchReceipt, expectBody, MemoryPage, MemoryStats, RetrieveAnswer, StoreReceipt } from './shapes.ts';

export interface NewMemory {
  readonly content: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly workspace_id?: string;
  readonly ttl_seconds?: number;
}

type Parameters = Readonly<Record<string, string | number>>;

export const query = (parameters: Parameters): string =>
  `?${new URLSearchParams(Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)]))}`;

export async function store(client: HttpClient, memory: NewMemory): Promise<StoreReceipt> {
  return expectBody(await client.post('/v1/memory/store', memory), 201, StoreReceipt);
}

/** Stores any number of objects, a hundred at a time, and answers their ids in order. */
export async function storeAll(client: HttpClient, memories: readonly NewMemory[]): Promise<string[]> {
  const ids: string[] = [];
  for (let first = 0; first < memories.length; first += 100) {
    const receipt = expectBody(await client.post('/v1/memory/batch', { memories: memories.slice(first, first + 100) }), 201, BatchReceipt);
    ids.push(...receipt.results.map((result) => ('id' in result ? result.id : expect.fail(JSON.stringify(result)))));
  }
  return ids;
}

/** A search; every answer is checked to be in order of relevance. */
export async function retrieve(client: HttpClient, parameters: Parameters): Promise<RetrieveAnswer> {
  const answer = expectBody(await client.get(`/v1/memory/retrieve${query(parameters)}`), 200, RetrieveAnswer);
  const scores = answer.results.map((item) => item.relevance_score);
  expect(scores, 'relevance falls with rank').toEqual(scores.toSorted((a, b) => b - a));
  return answer;
}

export const idsOf = (answer: RetrieveAnswer): string[] => answer.results.map((item) => item.id);

export async function list(client: HttpClient, parameters: Parameters = {}): Promise<MemoryPage> {
  return expectBody(await client.get(`/v1/memory${query(parameters)}`), 200, MemoryPage);
}

export async function stats(client: HttpClient): Promise<MemoryStats> {
  return expectBody(await client.get('/v1/memory/stats'), 200, MemoryStats);
}

/** Every page of a search, first to last. */
export async function retrievePages(client: HttpClient, parameters: Parameters, betweenPages: (page: number) => Promise<void> = async () => {}): Promise<RetrieveAnswer[]> {
  const pages = [await retrieve(client, parameters)];
  for (let last = pages[0]; last?.next_cursor != null; last = pages.at(-1)) {
    expect(last.has_more).toBe(true);
    await betweenPages(pages.length);
    pages.push(await retrieve(client, { ...parameters, cursor: last.next_cursor }));
    expect(pages.length, 'pages without end').toBeLessThan(1000);
  }
  expect(pages.at(-1)?.has_more).toBe(false);
  return pages;
}
