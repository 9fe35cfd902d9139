import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fold } from '../../subgraphs/memory/ports/keyword/fold.ts';

type Document = Readonly<Record<string, unknown>> & { readonly id: string; readonly content: string };
type Query = { indexUid: string; q: string; filter?: string[]; limit: number; attributesToCrop?: string[]; highlightPreTag?: string; highlightPostTag?: string };

export interface IndexState {
  settings: { filterableAttributes: string[]; typoTolerance: { minWordSizeForTypos: { oneTypo: number; twoTypos: number } }; distinctAttribute: string } | null;
  readonly documents: Map<string, Document>;
}

export interface MeilisearchStandIn {
  readonly url: string;
  readonly port: number;
  /** What a client did that the documentation forbids, or that this product promises never to do. */
  readonly violations: string[];
  readonly requests: { method: string; path: string; body: unknown }[];
  documents(index?: string): Document[];
  /** The next task of this type fails. */
  failNext(type: string): void;
  close(): Promise<void>;
}

/**
 * What Meilisearch's documentation (1.12 and newer) says of the calls this product makes: queued tasks, settings, documents,
 * deletion by filter, multi-search with filters, phrases, typos, `distinct` and highlights. Ranking is only rough: by typos.
 */
export async function startMeilisearchStandIn({ port = 0, apiKey = 'key', data = new Map<string, IndexState>() } = {}): Promise<MeilisearchStandIn> {
  const tasks: { uid: number; type: string; status: string; error: { message: string } | null; run: () => void }[] = [];
  const violations: string[] = [];
  const requests: MeilisearchStandIn['requests'] = [];
  const failing = new Set<string>();
  const indexOf = (uid: string): IndexState => data.get(uid) ?? data.set(uid, { settings: null, documents: new Map() }).get(uid)!;

  const enqueue = (type: string, run: () => void): unknown => {
    tasks.push({ uid: tasks.length, type, status: 'enqueued', error: null, run });
    return { taskUid: tasks.length - 1, indexUid: null, status: 'enqueued', type, enqueuedAt: '2026-01-01T00:00:00Z' };
  };
  // A task is done only after somebody has asked: whoever does not wait finds nothing.
  const advance = (uid: number): unknown => {
    for (const task of tasks.slice(0, uid + 1).filter(({ status }) => status === 'enqueued')) {
      try {
        if (failing.delete(task.type)) throw new Error('told to fail');
        task.run();
        task.status = 'succeeded';
      } catch (error) {
        task.status = 'failed';
        task.error = { message: (error as Error).message };
      }
    }
    const { run: _run, ...task } = tasks[uid]!;
    return task;
  };

  const add = (uid: string, documents: Document[]) => () => {
    const index = indexOf(uid);
    if (index.settings === null) violations.push('documents before settings');
    for (const document of documents) {
      if (!/^[A-Za-z0-9_-]{1,511}$/.test(document.id)) throw new Error(`document id '${document.id}' is invalid`);
      if (positionsOf(document.content) > 65_535) violations.push(`more than 65,535 positions in ${document.id}`);
      index.documents.set(document.id, document);
    }
  };
  const remove = (uid: string, matches: (document: Document) => boolean) => () => {
    for (const document of [...indexOf(uid).documents.values()].filter(matches)) indexOf(uid).documents.delete(document.id);
  };
  const search = (query: Query, at: number): unknown => {
    const index = data.get(query.indexUid);
    if (!index) throw new Refusal(400, 'index_not_found', `Inside .queries[${at}]: Index \`${query.indexUid}\` not found.`);
    const { filter = [], limit, q } = query;
    if (index.settings !== null && !filter.some((condition) => /^workspace_id = "/.test(condition))) violations.push(`search without a workspace: ${JSON.stringify(query)}`);
    const accepts = filter.map((condition) => conditionOf(condition, index.settings?.filterableAttributes ?? []));
    const found = [...index.documents.values()].filter((document) => accepts.every((accept) => accept(document))).map((document) => ({ document, match: matchOf(document, q, index) })).filter(({ match }) => match.all);
    found.sort((a, b) => a.match.typos - b.match.typos);
    const distinct = [...new Map(found.toReversed().map((hit) => [hit.document[index.settings?.distinctAttribute ?? 'id'], hit])).values()].reverse().sort((a, b) => a.match.typos - b.match.typos);
    const hits = distinct.slice(0, limit).map(({ document, match }) => ({
      seq: document['seq'],
      _rankingScore: 1 / (1 + match.typos),
      ...(query.attributesToCrop && { _formatted: { content: match.words.map((word) => query.highlightPreTag! + word + query.highlightPostTag!).join(' ') } }),
    }));
    return { indexUid: query.indexUid, hits, query: q, processingTimeMs: 1, limit, offset: 0, estimatedTotalHits: distinct.length };
  };

  const routes: [RegExp, (uid: string, body: never, url: URL) => unknown][] = [
    [/^PATCH \/indexes\/([\w-]+)\/settings$/, (uid, body: NonNullable<IndexState['settings']>) => enqueue('settingsUpdate', () => void (indexOf(uid).settings = body))],
    [/^POST \/indexes$/, (_, { uid }: { uid: string }) => enqueue('indexCreation', () => void indexOf(uid))],
    [/^GET \/indexes$/, () => ({ results: [...data.keys()].map((uid) => ({ uid, primaryKey: 'id', createdAt: 0, updatedAt: 0 })), total: data.size, limit: 1000, offset: 0 })],
    [/^POST \/indexes\/([\w-]+)\/documents$/, (uid, body: Document[]) => enqueue('documentAdditionOrUpdate', add(uid, body))],
    [/^POST \/indexes\/([\w-]+)\/documents\/delete$/, (uid, { filter }: { filter: string[] }) => enqueue('documentDeletion', () => {
      const accepts = filter.map((condition) => conditionOf(condition, indexOf(uid).settings?.filterableAttributes ?? []));
      remove(uid, (document) => accepts.every((accept) => accept(document)))();
    })],
    [/^POST \/indexes\/([\w-]+)\/documents\/delete-batch$/, (uid, ids: string[]) => enqueue('documentDeletion', remove(uid, ({ id }) => ids.includes(id)))],
    [/^GET \/indexes\/([\w-]+)\/documents$/, (uid, _, url) => {
      const offset = Number(url.searchParams.get('offset'));
      const all = [...indexOf(uid).documents.values()];
      return { results: all.slice(offset, offset + Number(url.searchParams.get('limit'))), total: all.length, offset };
    }],
    [/^GET \/tasks\/(\d+)$/, (uid) => advance(Number(uid))],
    [/^POST \/multi-search$/, (_, { queries }: { queries: Query[] }) => ({ results: queries.map(search) })],
  ];

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url!, 'http://stand-in');
    const body: unknown = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : null;
    requests.push({ method: request.method!, path: url.pathname, body });
    const answer = (status: number, content: unknown): void => void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content));
    try {
      if (request.headers.authorization !== `Bearer ${apiKey}`) throw new Refusal(403, 'invalid_api_key', 'The provided API key is invalid.');
      const name = `${request.method} ${url.pathname}`;
      const route = routes.find(([pattern]) => pattern.test(name));
      if (!route) throw new Refusal(404, 'not_found', `The stand-in knows no ${name}`);
      answer(200, route[1](route[0].exec(name)![1]!, body as never, url));
    } catch (error) {
      if (error instanceof Refusal) answer(error.status, { code: error.code, message: error.message, type: 'invalid_request', link: '' });
      else answer(400, { code: 'invalid_search_filter', message: String(error), type: 'invalid_request', link: '' });
    }
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    violations,
    requests,
    documents: (index = 'memory') => [...(data.get(index)?.documents.values() ?? [])],
    failNext: (type) => void failing.add(type),
    close: () => new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    }),
  };
}

class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** One condition of the filter language: `name = "value"`, `name > 1`, `name [NOT] IN [a, b]`; anything left over is an error. */
function conditionOf(condition: string, filterable: readonly string[]): (document: Document) => boolean {
  const value = String.raw`("(?:[^"\\]|\\.)*"|-?\d+)`;
  const [, name, operator, one, , list] = new RegExp(String.raw`^(\w+) (?:(=|>|<) ${value}|((?:NOT )?IN) \[(${value}(?:,${value})*)\])$`, 's').exec(condition) ?? [];
  if (name === undefined) throw new Error(`cannot parse the filter ${condition}`);
  if (!filterable.includes(name)) throw new Error(`Attribute \`${name}\` is not filterable.`);
  const read = (text: string): string => (text.startsWith('"') ? text.slice(1, -1).replace(/\\(.)/gs, '$1').toLowerCase() : text);
  const valuesOf = (document: Document): string[] => [document[name]].flat().map((held) => String(held).toLowerCase());
  if (operator === '=') return (document) => valuesOf(document).includes(read(one!));
  if (operator !== undefined) return (document) => (operator === '>' ? Number(document[name]) > Number(one) : Number(document[name]) < Number(one));
  const wanted = new Set((list!.match(new RegExp(value, 'gs')) ?? []).map(read));
  return (document) => valuesOf(document).some((held) => wanted.has(held)) !== condition.includes(' NOT IN ');
}

const lettersOf = (text: string): string[] => fold(text).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];

/** Whether the document holds all the words (each within its typos) and phrases (word for word) of the query. */
function matchOf({ content }: Document, q: string, { settings }: IndexState): { all: boolean; typos: number; words: string[] } {
  if (/(^|\s)-\S/.test(q)) throw new Error('a negative word was sent');
  const held = lettersOf(content);
  const phrases = [...q.matchAll(/"([^"]*)"/g)].map(([, phrase]) => lettersOf(phrase!).join(' '));
  const { oneTypo, twoTypos } = settings?.typoTolerance.minWordSizeForTypos ?? { oneTypo: 5, twoTypos: 9 };
  const matches = lettersOf(q.replace(/"[^"]*"/g, ' ')).slice(0, 10).map((word) => {
    const allowed = /\d/.test(word) || word.length < oneTypo ? 0 : word.length < twoTypos ? 1 : 2;
    return held.map((other) => ({ other, typos: distance(word, other) })).filter(({ typos }) => typos <= allowed).sort((a, b) => a.typos - b.typos)[0];
  });
  const all = matches.every((match) => match !== undefined) && phrases.every((phrase) => ` ${held.join(' ')} `.includes(` ${phrase} `));
  return { all, typos: matches.reduce((sum, match) => sum + (match?.typos ?? 0), 0), words: matches.flatMap((match) => (match ? [match.other] : [])) };
}

/** Two neighbors that changed places are one typo. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return 3;
  const rows = [Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      row[j] = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j]!, rows[i - 2]![j - 2]! + 1);
    }
    rows.push(row);
  }
  return rows.at(-1)!.at(-1)!;
}

/** As Meilisearch counts them: 8 after the end of a sentence, 1 after any other sign. */
const positionsOf = (content: string): number => [...content.matchAll(/([^\p{L}\p{N}]*)[\p{L}\p{N}]+/gu)].reduce((sum, [, before]) => sum + (/[.;,!?()[\]{}|\n]/.test(before!) ? 8 : 1), 0);
