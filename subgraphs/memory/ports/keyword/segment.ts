import { Arena } from './arena.ts';
import { ByteWriter } from './bytes.ts';
import { Dictionary, type DictionaryTerm, encodeDictionary } from './dictionary.ts';
import { fold } from './fold.ts';
import { PostingsWriter, readPostings } from './postings.ts';
import { compoundsOf, partsOf, runsOf } from './tokenizer.ts';

/** An immutable part of a workspace's index, as it is stored. */
export interface Segment {
  readonly documents: number;
  readonly tokens: number;
  readonly dictionary: Uint8Array<ArrayBuffer>;
  readonly postings: Uint8Array<ArrayBuffer>;
}

export function buildSegment(documents: readonly { seq: number; content: string }[]): Segment {
  const vocabulary = new Map<string, Occurrences>();
  const lengths = documents.map(({ content }, document) => {
    let length = 0;
    for (const run of runsOf(fold(content))) {
      for (const part of partsOf(run)) {
        count(vocabulary, part, document);
        length++;
      }
      for (const compound of compoundsOf(run)) count(vocabulary, compound, document);
    }
    return length;
  });
  const postings = new ByteWriter();
  const terms = [...vocabulary.keys()].sort(byUnits).map((term): DictionaryTerm => {
    const { documents, frequencies } = vocabulary.get(term)!;
    const start = postings.length;
    const writer = new PostingsWriter(postings);
    documents.forEach((document, at) => writer.posting(document, frequencies[at]!));
    return { term, documents: documents.length, postingsBytes: postings.length - start };
  });
  return segmentOf(documents.map(({ seq }) => seq), lengths, terms, postings);
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
    return { dictionary, postings: part.postings, renumbered, next: 0, term: dictionary.size > 0 ? dictionary.term(0) : null };
  });
  const terms: DictionaryTerm[] = [];
  const postings = new ByteWriter();
  const arena = new Arena();
  for (let term = smallestTerm(sources); term !== null; term = smallestTerm(sources)) {
    const start = postings.length;
    const writer = new PostingsWriter(postings);
    let documents = 0;
    for (const source of sources) {
      if (source.term !== term) continue;
      const { dictionary, renumbered, next } = source;
      const bytes = source.postings.subarray(dictionary.postings[next], dictionary.postings[next + 1]);
      arena.reset();
      const found = readPostings(bytes, dictionary.documents[next]!, arena);
      found.documents.forEach((document, at) => {
        if (renumbered[document]! < 0) return;
        writer.posting(renumbered[document]!, found.frequencies[at]!);
        documents++;
      });
      source.next++;
      source.term = source.next < dictionary.size ? dictionary.term(source.next) : null;
    }
    if (documents > 0) terms.push({ term, documents, postingsBytes: postings.length - start });
  }
  return segmentOf(seqs, lengths, terms, postings);
}

interface Occurrences {
  readonly documents: number[];
  readonly frequencies: number[];
}

interface Source {
  readonly dictionary: Dictionary;
  readonly postings: Uint8Array;
  readonly renumbered: Int32Array;
  next: number;
  term: string | null;
}

function count(vocabulary: Map<string, Occurrences>, term: string, document: number): void {
  const occurrences = vocabulary.get(term);
  if (!occurrences) {
    vocabulary.set(term, { documents: [document], frequencies: [1] });
    return;
  }
  const last = occurrences.documents.length - 1;
  if (occurrences.documents[last] === document) {
    occurrences.frequencies[last]! += 1;
  } else {
    occurrences.documents.push(document);
    occurrences.frequencies.push(1);
  }
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

/** The order of `<`, which the dictionary's searches rely on; no locale. */
function byUnits(a: string, b: string): number {
  return a < b ? -1 : 1;
}
