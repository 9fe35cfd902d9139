import type { Arena } from './arena.ts';
import type { ByteWriter } from './bytes.ts';

/**
 * The postings of a term: for each document, in ascending order, the distance to the one before and how often the term
 * occurs. The lowest bit of the distance says "once", which is most of them.
 */
export class PostingsWriter {
  readonly #out: ByteWriter;
  readonly #start: number;
  #next = 0;
  documents = 0;

  constructor(out: ByteWriter) {
    this.#out = out;
    this.#start = out.length;
  }

  get bytes(): number {
    return this.#out.length - this.#start;
  }

  posting(document: number, frequency: number): void {
    const distance = document - this.#next;
    this.#next = document + 1;
    this.documents++;
    this.#out.number(frequency === 1 ? 2 * distance + 1 : 2 * distance);
    if (frequency !== 1) this.#out.number(frequency);
  }
}

/** Documents and frequencies, side by side. Written out by hand: a search decodes 100,000 of them in half a millisecond. */
export interface Postings {
  readonly documents: Uint32Array;
  readonly frequencies: Float64Array;
}

/** For a search, until the arena's next reset. */
export function readPostings(bytes: Uint8Array, count: number, arena: Arena): Postings {
  const postings = { documents: arena.uint32(count), frequencies: arena.float64(count) };
  decodePostings(bytes, count, postings);
  return postings;
}

/** Room that many terms can be decoded into, one after the other. */
export function postingsFor(count: number): Postings {
  return { documents: new Uint32Array(count), frequencies: new Float64Array(count) };
}

/** Reads `count` postings into the first places. Ordinals and frequencies of a segment are below 2^28, so shifts suffice. */
export function decodePostings(bytes: Uint8Array, count: number, { documents, frequencies }: Postings): void {
  for (let at = 0, from = 0, next = 0; at < count; at++, next++) {
    let byte = bytes[from++]!;
    let head = byte & 127;
    for (let shift = 7; byte >= 128; shift += 7) {
      byte = bytes[from++]!;
      head |= (byte & 127) << shift;
    }
    next += head >>> 1;
    documents[at] = next;
    if ((head & 1) === 1) {
      frequencies[at] = 1;
      continue;
    }
    byte = bytes[from++]!;
    let frequency = byte & 127;
    for (let shift = 7; byte >= 128; shift += 7) {
      byte = bytes[from++]!;
      frequency |= (byte & 127) << shift;
    }
    frequencies[at] = frequency;
  }
}
