import { ByteReader, ByteWriter } from './bytes.ts';

/** What is written about a segment's documents and terms, in the order they have in the segment. */
export interface DictionaryEntries {
  readonly seqs: readonly number[];
  /** Words in each document. */
  readonly lengths: readonly number[];
  readonly terms: readonly DictionaryTerm[];
}

export interface DictionaryTerm {
  readonly term: string;
  readonly documents: number;
  readonly postingsBytes: number;
}

/** Sequence numbers as differences, terms as what differs from the term before (front coding). */
export function encodeDictionary({ seqs, lengths, terms }: DictionaryEntries): Uint8Array<ArrayBuffer> {
  const out = new ByteWriter();
  out.number(seqs.length);
  seqs.forEach((seq, document) => {
    out.signed(seq - (seqs[document - 1] ?? 0));
    out.number(lengths[document]!);
  });
  out.number(terms.length);
  out.number(terms.reduce((sum, { term }) => sum + term.length, 0));
  let previous = '';
  for (const { term, documents, postingsBytes } of terms) {
    const shared = sharedLength(previous, term);
    out.number(shared);
    out.number(term.length - shared);
    for (let at = shared; at < term.length; at++) out.number(term.charCodeAt(at));
    out.number(documents);
    out.number(postingsBytes);
    previous = term;
  }
  return out.written();
}

function sharedLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a.charCodeAt(length) === b.charCodeAt(length)) length++;
  return length;
}

/** The documents of a dictionary, in order, without unpacking its terms. */
export function readSeqs(dictionary: Uint8Array): number[] {
  const reader = new ByteReader(dictionary);
  let seq = 0;
  return Array.from({ length: reader.number() }, () => {
    seq += reader.signed();
    reader.number();
    return seq;
  });
}

/** A segment's dictionary, unpacked into flat arrays: terms are named by their rank in ascending UTF-16 order. */
export class Dictionary {
  readonly seqs: Float64Array;
  readonly lengths: Uint32Array;
  readonly size: number;
  readonly byteLength: number;
  /** Term i is `units[starts[i] .. starts[i + 1]]`, its postings the bytes `postings[i] .. postings[i + 1]`. */
  readonly units: Uint16Array;
  readonly starts: Uint32Array;
  readonly postings: Float64Array;
  readonly documents: Uint32Array;

  constructor(bytes: Uint8Array) {
    const reader = new ByteReader(bytes);
    const documents = reader.number();
    this.seqs = new Float64Array(documents);
    this.lengths = new Uint32Array(documents);
    for (let document = 0, seq = 0; document < documents; document++) {
      this.seqs[document] = seq += reader.signed();
      this.lengths[document] = reader.number();
    }
    this.size = reader.number();
    this.units = new Uint16Array(reader.number());
    this.starts = new Uint32Array(this.size + 1);
    this.postings = new Float64Array(this.size + 1);
    this.documents = new Uint32Array(this.size);
    for (let term = 0, previous = 0, start = 0; term < this.size; term++) {
      const shared = reader.number();
      let end = start + shared + reader.number();
      this.units.copyWithin(start, previous, previous + shared);
      for (let at = start + shared; at < end; at++) this.units[at] = reader.number();
      this.documents[term] = reader.number();
      this.postings[term + 1] = this.postings[term]! + reader.number();
      this.starts[term + 1] = end;
      previous = start;
      start = end;
    }
    this.byteLength = 12 * documents + 2 * this.units.length + 16 * this.size;
  }

  term(index: number): string {
    return String.fromCharCode(...this.units.subarray(this.starts[index]!, this.starts[index + 1]!));
  }

  /** All terms in order; cut from one text, they cost a fifth of asking for each. */
  *terms(): Generator<string, undefined> {
    const text = Buffer.from(this.units.buffer).toString('utf16le');
    for (let index = 0; index < this.size; index++) yield text.slice(this.starts[index], this.starts[index + 1]);
  }

  /** The rank of this very term, or -1. */
  find(term: string): number {
    const index = this.lowerBound(term);
    return index < this.size && this.#compare(index, term) === 0 ? index : -1;
  }

  /** The first term that is not before this text. */
  lowerBound(text: string): number {
    let low = 0;
    let high = this.size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(middle, text) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The terms that begin with this text: from, and up to but without to. */
  withPrefix(prefix: string): { from: number; to: number } {
    const from = this.lowerBound(prefix);
    let to = from;
    while (to < this.size && this.#startsWith(to, prefix)) to++;
    return { from, to };
  }

  #startsWith(index: number, prefix: string): boolean {
    const start = this.starts[index]!;
    if (this.starts[index + 1]! - start < prefix.length) return false;
    for (let at = 0; at < prefix.length; at++) if (this.units[start + at] !== prefix.charCodeAt(at)) return false;
    return true;
  }

  #compare(index: number, text: string): number {
    const start = this.starts[index]!;
    const length = this.starts[index + 1]! - start;
    for (let at = 0; at < length && at < text.length; at++) {
      const difference = this.units[start + at]! - text.charCodeAt(at);
      if (difference !== 0) return difference;
    }
    return length - text.length;
  }
}
