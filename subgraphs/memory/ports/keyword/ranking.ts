import type { Arena } from './arena.ts';
import { best } from './best.ts';
import { type Postings, readPostings } from './postings.ts';

/** One segment's answer to a query: its documents, and for each query word where it occurs. */
export interface SegmentMatches {
  readonly seqs: Float64Array;
  readonly lengths: Uint32Array;
  readonly words: readonly WordMatches[];
}

export interface WordMatches {
  readonly firm: readonly WeightedPostings[];
  readonly typos: readonly WeightedPostings[];
  /** The word itself, letter for letter, where that marks a document as an exact hit. */
  readonly exact: WeightedPostings | null;
}

export interface WeightedPostings {
  readonly bytes: Uint8Array;
  readonly documents: number;
  readonly weight: number;
}

export interface RankingOptions {
  readonly ranking: 'tiered' | 'bm25';
  /** For each query word, whether a document without it is no hit. */
  readonly mandatory: readonly boolean[];
  /** Of the whole workspace, dead revisions included: they go with the next merge. */
  readonly documents: number;
  readonly tokens: number;
  readonly limit: number;
  /** List all exact hits, also beyond the limit. */
  readonly allExact: boolean;
}

export interface RankedDocument {
  readonly seq: number;
  readonly score: number;
  readonly exact: boolean;
}

// Robertson's values, as everywhere; tuned to no collection.
const k1 = 1.2;
const b = 0.75;

/**
 * Up to this many words a document with more of them always comes first. Longer queries are sentences: there only the
 * documents with all the words come first, and the rest follows by BM25. On SciFact (300 claims) strict tiers for all
 * lengths give nDCG@10 0.62, this rule 0.69, plain BM25 0.69.
 */
export const tieredWordsMax = 5;

/** The best documents, best first, of equals the newer. Statistics are those of the segments given, so of one workspace. */
export function rank(segments: readonly SegmentMatches[], options: RankingOptions, arena: Arena): RankedDocument[] {
  arena.reset();
  const found = segments.map(({ seqs, words }) => words.map((word) => occurrences(word, seqs.length, arena)));
  const weights = options.mandatory.map((_, word) => weightsOf(found.map((words) => words[word]!), options.documents));
  const hits: Hits = { seqs: arena.float64(options.documents), scores: arena.float64(options.documents), exact: arena.uint8(options.documents), count: 0 };
  segments.forEach((segment, at) => scoreSegment(segment, found[at]!, weights, options, hits, arena));
  const listed = best(hits, options.limit, () => true);
  const exact = options.allExact ? best(hits, hits.count, (position) => hits.exact[position] === 1) : [];
  return [...new Set([...listed, ...exact])].map((position) => ({
    seq: hits.seqs[position]!,
    score: hits.scores[position]!,
    exact: hits.exact[position] === 1,
  }));
}

/** Room for every document; the first `count` places are taken. */
export interface Hits {
  readonly seqs: Float64Array;
  readonly scores: Float64Array;
  readonly exact: Uint8Array;
  count: number;
}

/** Where a word occurs, as one synonym: documents with a firm term first, `firm` of them, then those with typos only. */
interface Occurrences extends Postings {
  readonly firm: number;
}

function occurrences({ firm, typos }: WordMatches, size: number, arena: Arena): Occurrences {
  if (firm.length === 1 && firm[0]!.weight === 1 && typos.length === 0) {
    const { documents, frequencies } = readPostings(firm[0]!.bytes, firm[0]!.documents, arena);
    return { documents, frequencies, firm: documents.length };
  }
  const listed = firm.concat(typos).reduce((sum, term) => sum + term.documents, 0);
  const documents = arena.uint32(Math.min(size, listed));
  const frequencies = arena.float64(documents.length);
  if (listed === 0) return { documents, frequencies, firm: 0 };

  const places = arena.uint32(size); // 1 + the place of a document in `documents`
  let count = 0;
  const add = ({ bytes, documents: holding, weight }: WeightedPostings, firmCount: number): void => {
    const postings = readPostings(bytes, holding, arena);
    for (let at = 0; at < postings.documents.length; at++) {
      const document = postings.documents[at]!;
      let place = places[document]! - 1;
      // A document that holds the word gains nothing from its misspellings.
      if (place !== -1 && place < firmCount) continue;
      if (place === -1) {
        place = count++;
        places[document] = count;
        documents[place] = document;
      }
      frequencies[place]! += weight * postings.frequencies[at]!;
    }
  };
  for (const term of firm) add(term, 0);
  const firmCount = count;
  for (const term of typos) add(term, firmCount);
  return { documents: documents.subarray(0, count), frequencies, firm: firmCount };
}

interface Weights {
  readonly firm: number;
  readonly typos: number;
  readonly bound: number;
}

/** Inverse document frequencies of a word. A misspelling never weighs more than the word where the word occurs. */
function weightsOf(found: readonly Occurrences[], documents: number): Weights {
  const firmDocuments = found.reduce((sum, { firm }) => sum + firm, 0);
  const typoDocuments = found.reduce((sum, { documents, firm }) => sum + documents.length - firm, 0);
  const firm = inverseFrequency(firmDocuments, documents);
  const typos = Math.min(firm, inverseFrequency(typoDocuments, documents));
  return { firm, typos, bound: firmDocuments > 0 || typoDocuments === 0 ? firm : typos };
}

function inverseFrequency(holding: number, documents: number): number {
  return Math.log(1 + (documents - holding + 0.5) / (holding + 0.5));
}

function scoreSegment(segment: SegmentMatches, found: readonly Occurrences[], weights: readonly Weights[], options: RankingOptions, hits: Hits, arena: Arena): void {
  const { seqs, words } = segment;
  const tally: Tally = {
    share: arena.float64(seqs.length),
    matched: arena.uint8(seqs.length),
    firmly: arena.uint8(seqs.length),
    mandatory: arena.uint8(seqs.length),
  };
  const saturation = saturationOf(segment.lengths, options.tokens / options.documents, arena);
  const bound = weights.reduce((sum, weight) => sum + weight.bound, 0);
  found.forEach((occurrences, word) => count(tally, occurrences, weights[word]!.firm / bound, weights[word]!.typos / bound, saturation, options.mandatory[word] ? 1 : 0));

  const exact = arena.uint8(seqs.length);
  for (const word of words) if (word.exact) for (const document of readPostings(word.exact.bytes, word.exact.documents, arena).documents) exact[document] = 1;
  const mandatory = options.mandatory.filter(Boolean).length;
  const score = options.ranking === 'bm25' ? plain : words.length <= tieredWordsMax ? byWords : allWordsFirst;
  for (let document = 0; document < seqs.length; document++) {
    const matched = tally.matched[document]!;
    if (matched === 0 || tally.mandatory[document]! < mandatory) continue;
    hits.seqs[hits.count] = seqs[document]!;
    hits.scores[hits.count] = score(tally.share[document]!, words.length, matched, tally.firmly[document]!);
    hits.exact[hits.count++] = exact[document]!;
  }
}

/** Of each document: its share of the greatest BM25 sum, and how many words it holds, firmly, and of the mandatory ones. */
interface Tally {
  readonly share: Float64Array;
  readonly matched: Uint8Array;
  readonly firmly: Uint8Array;
  readonly mandatory: Uint8Array;
}

function count({ share, matched, firmly, mandatory }: Tally, { documents, frequencies, firm }: Occurrences, firmWeight: number, typoWeight: number, saturation: Float64Array, isMandatory: number): void {
  for (let at = 0; at < documents.length; at++) {
    const document = documents[at]!;
    const frequency = frequencies[at]!;
    const weight = at < firm ? firmWeight : typoWeight;
    share[document]! += (weight * frequency) / (frequency + saturation[document]!);
    matched[document]! += 1;
    firmly[document]! += at < firm ? 1 : 0;
    mandatory[document]! += isMandatory;
  }
}

function saturationOf(lengths: Uint32Array, averageLength: number, arena: Arena): Float64Array {
  const saturation = arena.float64(lengths.length);
  for (let document = 0; document < lengths.length; document++) saturation[document] = k1 * (1 - b + (b * lengths[document]!) / averageLength);
  return saturation;
}

/** `share` is the BM25 sum divided by what no document can reach, so below 1. */
type Score = (share: number, words: number, matched: number, firmly: number) => number;

const plain: Score = (share) => share;

/** More words first; among equals those with fewer misspellings, then by BM25. */
const byWords: Score = (share, words, matched, firmly) => (matched - 1 + (firmly + share) / (words + 1)) / words;

const allWordsFirst: Score = (share, words, matched) => (matched === words ? words - 1 + share : (words - 1) * share) / words;
