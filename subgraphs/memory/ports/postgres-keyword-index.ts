import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/core';
import { LRUCache } from 'lru-cache';
import { query } from '#platform/database/query.ts';
import { WorkerPool } from './embedder/worker-pool.ts';
import { Arena } from './keyword/arena.ts';
import { Dictionary, readSeqs } from './keyword/dictionary.ts';
import { EnglishStems } from './keyword/english.ts';
import { expand, type ExpandedWord, type WeightedTerm } from './keyword/expansion.ts';
import { fold } from './keyword/fold.ts';
import { parseQuery, type QueryWord } from './keyword/keyword-query.ts';
import { segmentsToMerge } from './keyword/merge-policy.ts';
import { rank, type RankedDocument, type SegmentMatches, tieredWordsMax } from './keyword/ranking.ts';
import type { Segment } from './keyword/segment.ts';
import type { SegmentTask } from './keyword/segment-worker.ts';
import type { KeywordChange, KeywordDocument, KeywordDocuments, KeywordHit, KeywordIndex, KeywordQuery, KeywordResult } from './keyword-index.ts';

export interface PostgresKeywordIndexOptions<Filter> {
  readonly documents: KeywordDocuments<Filter>;
  /** Unpacked dictionaries and postings kept in memory, each. */
  readonly cacheBytesMax?: number;
}

/**
 * BM25 over immutable segments in `memory.keyword_segment`. The database keeps the bytes; this process ranks. Segments
 * never change, so what was read of them is cached by their id without a thought of invalidation.
 */
export class PostgresKeywordIndex<Filter> implements KeywordIndex<Filter> {
  readonly #documents: KeywordDocuments<Filter>;
  readonly #dictionaries: LRUCache<number, Dictionary>;
  readonly #postings: LRUCache<string, Uint8Array>;
  readonly #stems = new EnglishStems();
  readonly #arena = new Arena();
  // Not in the background, and not behind a merge: an object is found by its words within two seconds, however busy the machine.
  readonly #builders = new WorkerPool<SegmentTask, Segment>({
    script: new URL('./keyword/segment-worker', import.meta.url),
    threads: 2,
    priority: 'normal',
  });

  constructor({ documents, cacheBytesMax = 64 * 1024 * 1024 }: PostgresKeywordIndexOptions<Filter>) {
    this.#documents = documents;
    this.#dictionaries = new LRUCache({ maxSize: cacheBytesMax, sizeCalculation: ({ byteLength }) => byteLength + 1000 });
    this.#postings = new LRUCache({ maxSize: cacheBytesMax, sizeCalculation: ({ byteLength }) => byteLength + 200 });
  }

  async prepare(workspaceId: string, documents: readonly KeywordDocument[]): Promise<KeywordChange> {
    const segment = await this.#builders.run({ build: documents.map(({ seq, content }) => ({ seq, content })) });
    return (em) => replaceSegments(em, workspaceId, [], segment);
  }

  async prepareMerge(em: EntityManager, workspaceId: string): Promise<KeywordChange | null> {
    const chosen = segmentsToMerge(await listSegments(em, workspaceId)).map(({ id }) => id);
    if (chosen.length === 0) return null;
    const parts: { dictionary: Uint8Array<ArrayBuffer>; postings: Uint8Array<ArrayBuffer>; seqs: number[] }[] = [];
    for (const id of chosen) {
      const dictionary = await readBytes(em, id, 'dictionary');
      const postings = await readBytes(em, id, 'postings');
      // Another merge was faster.
      if (!dictionary || !postings) return null;
      parts.push({ dictionary, postings, seqs: readSeqs(dictionary) });
    }
    const dropped = new Set(await this.#documents.outdated(em, workspaceId, parts.flatMap(({ seqs }) => seqs)));
    const segment = await this.#builders.run(
      {
        merge: parts.map(({ dictionary, postings, seqs }) => ({
          dictionary,
          postings,
          kept: Uint8Array.from(seqs, (seq) => {
            if (dropped.has(seq)) return 0;
            // Of a revision that was indexed twice, one copy is enough.
            dropped.add(seq);
            return 1;
          }),
        })),
      },
      parts.flatMap(({ dictionary, postings }) => [dictionary.buffer, postings.buffer]),
    );
    return (transaction) => replaceSegments(transaction, workspaceId, chosen, segment);
  }

  async search(em: EntityManager, query: KeywordQuery<Filter>): Promise<KeywordResult> {
    const { words, phrases } = parseQuery(query.text);
    const found = words.length > 0 ? await this.#find(em, query, words) : null;
    if (!found) return { hits: [], terms: [] };
    return { hits: await this.#findableHits(em, query, found, phrases), terms: found.terms };
  }

  close(): Promise<void> {
    return this.#builders.close();
  }

  async #find(em: EntityManager, { workspaceId, ranking }: KeywordQuery<Filter>, words: readonly QueryWord[]): Promise<Found | null> {
    // A merge may take segments away between two statements; then the list is out of date.
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      const segments = await listSegments(em, workspaceId);
      if (segments.length === 0) return null;
      const dictionaries = await this.#dictionariesOf(em, segments.map(({ id }) => id));
      if (!dictionaries) continue;
      const expanded = expand(dictionaries, words, this.#stems, ranking === 'tiered' && words.length <= tieredWordsMax ? commonDocuments : 1);
      const postings = await this.#postingsOf(em, segments.map(({ id }, at) => ({ id, dictionary: dictionaries[at]!, terms: termsIn(expanded, at) })));
      if (postings) return { segments, expanded, matches: matchesOf(dictionaries, expanded, postings), terms: matchedTerms(dictionaries, expanded) };
    }
    throw new Error(`The keyword segments of ${workspaceId} changed during ${attemptsMax} searches in a row.`);
  }

  /** Null when one of the segments is gone. */
  async #dictionariesOf(em: EntityManager, ids: readonly number[]): Promise<Dictionary[] | null> {
    const found = new Map(ids.map((id) => [id, this.#dictionaries.get(id)]));
    const missing = ids.filter((id) => !found.get(id));
    if (missing.length > 0) {
      const rows = await query<{ id: number; dictionary: Buffer }>(em, 'select id, dictionary from memory.keyword_segment where id = any($1::bigint[])', [missing]);
      if (rows.length < missing.length) return null;
      for (const { id, dictionary } of rows) {
        found.set(id, new Dictionary(dictionary));
        this.#dictionaries.set(id, found.get(id)!);
        // 250,000 terms unpack in 11 ms; others get their turn in between.
        await nextTurn();
      }
    }
    return ids.map((id) => found.get(id)!);
  }

  /** The postings of each segment's terms, or null when one of the segments is gone. */
  async #postingsOf(em: EntityManager, asked: readonly { id: number; dictionary: Dictionary; terms: readonly number[] }[]): Promise<PostingsOf | null> {
    const found = new Map<string, Uint8Array | undefined>();
    const missing: { key: string; id: number; offset: number; length: number }[] = [];
    for (const { id, dictionary, terms } of asked) {
      for (const term of terms) {
        const key = `${id}:${term}`;
        found.set(key, this.#postings.get(key));
        const offset = dictionary.postings[term]!;
        if (!found.get(key)) missing.push({ key, id, offset, length: dictionary.postings[term + 1]! - offset });
      }
    }
    if (missing.length > 0) {
      // substring() counts from 1 and, stored externally, reads only the pages it needs.
      const rows = await query<{ at: number; postings: Buffer }>(
        em,
        `select wanted.at, substring(postings from wanted."offset" + 1 for wanted.length) as postings
         from unnest($1::bigint[], $2::int[], $3::int[]) with ordinality as wanted(id, "offset", length, at)
         join memory.keyword_segment using (id)`,
        [missing.map(({ id }) => id), missing.map(({ offset }) => offset), missing.map(({ length }) => length)],
      );
      if (rows.length < missing.length) return null;
      for (const { at, postings } of rows) {
        const { key } = missing[at - 1]!;
        // A copy, so that the cache does not hold on to the driver's larger buffers.
        found.set(key, new Uint8Array(postings));
        this.#postings.set(key, found.get(key)!);
      }
    }
    return (segment, term) => found.get(`${asked[segment]!.id}:${term}`)!;
  }

  /** Asks about the best ones, then about four times as many, until the page is full or nothing is left. */
  async #findableHits(em: EntityManager, query: KeywordQuery<Filter>, { segments, expanded, matches }: Found, phrases: readonly RegExp[]): Promise<KeywordHit[]> {
    const { workspaceId, filter, limit, ranking } = query;
    const allExact = ranking === 'bm25';
    const options = {
      ranking,
      mandatory: expanded.map(({ mandatory }) => mandatory),
      documents: segments.reduce((sum, { documents }) => sum + documents, 0),
      tokens: segments.reduce((sum, { tokens }) => sum + tokens, 0),
      allExact,
    };
    const passes = new Map<number, boolean>();
    for (let count = limit + spare; ; count *= 4) {
      const ranked = rank(matches, { ...options, limit: count }, this.#arena);
      const unasked = ranked.map(({ seq }) => seq).filter((seq) => !passes.has(seq));
      for (let start = 0; start < unasked.length; start += blockMax) {
        const block = unasked.slice(start, start + blockMax);
        const hidden = new Set(await this.#documents.hidden(em, workspaceId, block, filter));
        const findable = new Set(await this.#withPhrases(em, workspaceId, block.filter((seq) => !hidden.has(seq)), phrases));
        for (const seq of block) passes.set(seq, findable.has(seq));
      }
      const hits = withoutRepeats(ranked).filter(({ seq }) => passes.get(seq));
      const enough = hits.length >= limit || ranked.length < count || (phrases.length > 0 && passes.size >= phraseCandidatesMax);
      if (enough) return hits.filter(({ exact }, place) => place < limit || (allExact && exact));
    }
  }

  async #withPhrases(em: EntityManager, workspaceId: string, seqs: readonly number[], phrases: readonly RegExp[]): Promise<readonly number[]> {
    if (phrases.length === 0 || seqs.length === 0) return seqs;
    const holding: number[] = [];
    for (let start = 0; start < seqs.length; start += contentsMax) {
      for (const [seq, content] of await this.#documents.contents(em, workspaceId, seqs.slice(start, start + contentsMax))) {
        const folded = fold(content);
        if (phrases.every((phrase) => phrase.test(folded))) holding.push(seq);
        if (content.length > longContent) await nextTurn();
      }
    }
    return holding;
  }
}

type PostingsOf = (segment: number, term: number) => Uint8Array;

/** All that a ranking of a query needs, however often it is asked for more. */
interface Found {
  readonly segments: readonly SegmentRow[];
  readonly expanded: readonly ExpandedWord[];
  readonly matches: readonly SegmentMatches[];
  readonly terms: readonly string[];
}

interface SegmentRow {
  readonly id: number;
  readonly documents: number;
  readonly tokens: number;
}

const attemptsMax = 5;
/** A word that so many documents hold is meant as it stands: their number fills a ranking, and near words come after them. */
const commonDocuments = 1000;
/** Some of the best are dead revisions or fail the filter. */
const spare = 32;
/** Bytes of a segment read at a time. */
const pieceMax = 1024 * 1024;
/** Documents asked about in one statement. */
const blockMax = 5000;
/** Contents read at a time to verify phrases: at most 20 MB. */
const contentsMax = 20;
/** When so many candidates with all of a phrase's words were read, the search ends with what it found. */
const phraseCandidatesMax = 2000;
/** Folding and matching 100,000 characters takes up to 5 ms. */
const longContent = 100_000;

function listSegments(em: EntityManager, workspaceId: string): Promise<SegmentRow[]> {
  return query(em, 'select id, documents, tokens from memory.keyword_segment where workspace_id = $1 order by id', [workspaceId]);
}

/** Null when the segment is gone. In pieces: `pg` receives bytes as text of twice their size, and 30 MB of it at once would hold up everything else. */
async function readBytes(em: EntityManager, id: number, column: 'dictionary' | 'postings'): Promise<Uint8Array<ArrayBuffer> | null> {
  const [found] = await query<{ length: number }>(em, `select octet_length(${column}) as length from memory.keyword_segment where id = $1`, [id]);
  if (!found) return null;
  const bytes = new Uint8Array(found.length);
  for (let start = 0; start < bytes.length; start += pieceMax) {
    const [read] = await query<{ piece: Buffer }>(em, `select substring(${column} from $2::int for $3::int) as piece from memory.keyword_segment where id = $1`, [id, start + 1, pieceMax]);
    if (!read) return null;
    bytes.set(read.piece, start);
  }
  return bytes;
}

/** Locks the segments first, so that of two merges of the same documents one finds nothing left to do. */
async function replaceSegments(em: EntityManager, workspaceId: string, replaced: readonly number[], segment: Segment): Promise<boolean> {
  if (replaced.length > 0) {
    const locked = await query(em, 'select id from memory.keyword_segment where id = any($1::bigint[]) order by id for update', [replaced]);
    if (locked.length < replaced.length) return false;
    await query(em, 'delete from memory.keyword_segment where id = any($1::bigint[])', [replaced]);
  }
  if (segment.documents > 0) {
    await query(em, 'insert into memory.keyword_segment (workspace_id, documents, tokens, dictionary, postings) values ($1, $2, $3, $4, $5)', [
      workspaceId,
      segment.documents,
      segment.tokens,
      Buffer.from(segment.dictionary.buffer),
      Buffer.from(segment.postings.buffer),
    ]);
  }
  return true;
}

function termsIn(words: readonly ExpandedWord[], segment: number): number[] {
  return words.flatMap(({ expansions }) => [...expansions[segment]!.firm, ...expansions[segment]!.typos].map(({ term }) => term));
}

/** The query's own words first, then their other forms, then misspellings: highlights of long texts heed only the first. */
function matchedTerms(dictionaries: readonly Dictionary[], words: readonly ExpandedWord[]): string[] {
  const weighted = words.flatMap(({ expansions }) =>
    expansions.flatMap(({ firm, typos }, segment) => [...firm, ...typos].map(({ term, weight }) => ({ term: dictionaries[segment]!.term(term), weight }))),
  );
  return [...new Set(weighted.sort((a, b) => b.weight - a.weight).map(({ term }) => term))];
}

function matchesOf(dictionaries: readonly Dictionary[], words: readonly ExpandedWord[], postingsOf: PostingsOf): SegmentMatches[] {
  return dictionaries.map((dictionary, segment) => {
    const weighted = ({ term, weight }: WeightedTerm) => ({ bytes: postingsOf(segment, term), documents: dictionary.documents[term]!, weight });
    return {
      seqs: dictionary.seqs,
      lengths: dictionary.lengths,
      words: words.map(({ exact, expansions }) => {
        const { firm, own, typos } = expansions[segment]!;
        return { firm: firm.map(weighted), typos: typos.map(weighted), exact: exact && own !== -1 ? weighted({ term: own, weight: 1 }) : null };
      }),
    };
  });
}

/** A revision that was indexed twice stands in two segments until they are merged. */
function withoutRepeats(ranked: readonly RankedDocument[]): RankedDocument[] {
  return [...new Map(ranked.toReversed().map((document) => [document.seq, document])).values()].reverse();
}
