import { ByteWriter } from './bytes.ts';
import { Dictionary, type DictionaryTerm, encodeDictionary } from './dictionary.ts';
import { fold } from './fold.ts';
import { decodePostings, postingsFor, PostingsWriter } from './postings.ts';
import { compoundsOf, partsOf, runsOf } from './tokenizer.ts';

/** An immutable part of a workspace's index, as it is stored. */
export interface Segment {
  readonly documents: number;
  readonly tokens: number;
  readonly dictionary: Uint8Array<ArrayBuffer>;
  readonly postings: Uint8Array<ArrayBuffer>;
}

export function buildSegment(documents: readonly { seq: number; content: string }[]): Segment {
  const numbers = new Map<string, number>();
  // Each occurrence of a term, by the term's number, document after document.
  const occurrences: number[] = [];
  const occur = (term: string): void => {
    let number = numbers.get(term);
    if (number === undefined) numbers.set(term, (number = numbers.size));
    occurrences.push(number);
  };
  const ends: number[] = [];
  const lengths = documents.map(({ content }) => {
    let length = 0;
    for (const run of runsOf(fold(content))) {
      for (const part of partsOf(run)) {
        occur(part);
        length++;
      }
      for (const compound of compoundsOf(run)) occur(compound);
    }
    ends.push(occurrences.length);
    return length;
  });
  const { starts, documentsOf } = byTerm(numbers.size, occurrences, ends);
  const postings = new ByteWriter();
  // Without a comparator, sort() has the order of `<`, which the dictionary's searches rely on; no locale.
  const terms = [...numbers.keys()].sort().map((term): DictionaryTerm => {
    const number = numbers.get(term)!;
    const end = starts[number + 1]!;
    const writer = new PostingsWriter(postings);
    for (let at = starts[number]!, next = at; at < end; at = next) {
      const document = documentsOf[at]!;
      while (next < end && documentsOf[next] === document) next++;
      writer.posting(document, next - at);
    }
    return { term, documents: writer.documents, postingsBytes: writer.bytes };
  });
  return segmentOf(documents.map(({ seq }) => seq), lengths, terms, postings);
}

/** The documents of each term's occurrences, ascending: those of term i are `documentsOf[starts[i] .. starts[i + 1]]`. */
function byTerm(terms: number, occurrences: readonly number[], ends: readonly number[]): { starts: Uint32Array; documentsOf: Uint32Array } {
  const starts = new Uint32Array(terms + 1);
  for (const term of occurrences) starts[term + 1]!++;
  for (let term = 0; term < terms; term++) starts[term + 1]! += starts[term]!;
  const next = starts.slice();
  const documentsOf = new Uint32Array(occurrences.length);
  ends.forEach((end, document) => {
    for (let at = ends[document - 1] ?? 0; at < end; at++) documentsOf[next[occurrences[at]!]!++] = document;
  });
  return { starts, documentsOf };
}

/** A segment to be merged, and which of its documents are kept (1) or dropped (0). */
export interface SegmentPart {
  readonly dictionary: Uint8Array;
  readonly postings: Uint8Array;
  readonly kept: Uint8Array;
}

/** What `buildSegment` would give for the kept documents of all parts, in order. */
export function mergeSegments(parts: readonly SegmentPart[]): Segment {
  const seqs: number[] = [];
  const lengths: number[] = [];
  const sources = parts.map((part): Source => {
    const dictionary = new Dictionary(part.dictionary);
    const renumbered = new Int32Array(dictionary.seqs.length).fill(-1);
    dictionary.seqs.forEach((seq, document) => {
      if (part.kept[document] !== 1) return;
      renumbered[document] = seqs.push(seq) - 1;
      lengths.push(dictionary.lengths[document]!);
    });
    const terms = dictionary.terms();
    return { dictionary, postings: part.postings, renumbered, terms, rank: 0, term: terms.next().value ?? null };
  });
  const terms: DictionaryTerm[] = [];
  const postings = new ByteWriter();
  const read = postingsFor(Math.max(0, ...sources.map(({ renumbered }) => renumbered.length)));
  for (let term = smallestTerm(sources); term !== null; term = smallestTerm(sources)) {
    const writer = new PostingsWriter(postings);
    for (const source of sources) {
      if (source.term !== term) continue;
      const { dictionary, renumbered, rank, terms } = source;
      const count = dictionary.documents[rank]!;
      decodePostings(source.postings.subarray(dictionary.postings[rank], dictionary.postings[rank + 1]), count, read);
      for (let at = 0; at < count; at++) {
        const document = renumbered[read.documents[at]!]!;
        if (document >= 0) writer.posting(document, read.frequencies[at]!);
      }
      source.rank++;
      source.term = terms.next().value ?? null;
    }
    if (writer.documents > 0) terms.push({ term, documents: writer.documents, postingsBytes: writer.bytes });
  }
  return segmentOf(seqs, lengths, terms, postings);
}

interface Source {
  readonly dictionary: Dictionary;
  readonly postings: Uint8Array;
  /** For each document its number in the merged segment, or -1. */
  readonly renumbered: Int32Array;
  readonly terms: Iterator<string, undefined>;
  /** The term that is next in order, and which one it is. */
  rank: number;
  term: string | null;
}

function smallestTerm(sources: readonly Source[]): string | null {
  let smallest: string | null = null;
  for (const { term } of sources) if (term !== null && (smallest === null || term < smallest)) smallest = term;
  return smallest;
}

function segmentOf(seqs: number[], lengths: number[], terms: DictionaryTerm[], postings: ByteWriter): Segment {
  return {
    documents: seqs.length,
    tokens: lengths.reduce((sum, length) => sum + length, 0),
    dictionary: encodeDictionary({ seqs, lengths, terms }),
    postings: postings.written(),
  };
}
