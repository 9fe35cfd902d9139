import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Arena } from '../../subgraphs/memory/ports/keyword/arena.ts';
import { Dictionary, readSeqs } from '../../subgraphs/memory/ports/keyword/dictionary.ts';
import { segmentsToMerge } from '../../subgraphs/memory/ports/keyword/merge-policy.ts';
import { readPostings } from '../../subgraphs/memory/ports/keyword/postings.ts';
import { buildSegment, mergeSegments, type Segment } from '../../subgraphs/memory/ports/keyword/segment.ts';

const word = fc.stringMatching(/^[a-dé東京]{1,6}$/);
const corpus = fc.uniqueArray(
  fc.record({ seq: fc.integer({ min: 1, max: 2 ** 50 }), content: fc.array(word, { maxLength: 40 }).map((words) => words.join(' ')) }),
  { selector: ({ seq }) => seq, maxLength: 40 },
);

/** term → seq → frequency */
function unpacked({ dictionary: bytes, postings }: Segment): Record<string, Record<number, number>> {
  const dictionary = new Dictionary(bytes);
  return Object.fromEntries(
    Array.from({ length: dictionary.size }, (_, term) => {
      const slice = postings.subarray(dictionary.postings[term], dictionary.postings[term + 1]);
      const { documents, frequencies } = readPostings(slice, dictionary.documents[term]!, new Arena());
      return [dictionary.term(term), Object.fromEntries(Array.from(documents, (document, at) => [dictionary.seqs[document]!, frequencies[at]!]))];
    }),
  );
}

test('a segment gives back what was put in', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 2 ** 50 }), { minLength: 1, maxLength: 50 }), fc.array(fc.nat(400), { minLength: 1, maxLength: 5 }), (seqs, times) => {
      const contents = seqs.map((_, at) => `${'alpha '.repeat(times[at % times.length]!)} beta${at}`);
      const segment = buildSegment(seqs.map((seq, at) => ({ seq, content: contents[at]! })));
      expect(readSeqs(segment.dictionary)).toEqual(seqs);
      expect(segment.tokens).toBe(seqs.reduce((sum, _, at) => sum + times[at % times.length]! + 1, 0));
      const terms = unpacked(segment);
      seqs.forEach((seq, at) => {
        expect(terms['alpha']?.[seq] ?? 0).toBe(times[at % times.length]);
        expect(terms[`beta${at}`]).toEqual({ [seq]: 1 });
      });
    }),
    { numRuns: 30 },
  );
});

test('terms are found by name and by prefix', () => {
  fc.assert(
    fc.property(fc.uniqueArray(word, { minLength: 1, maxLength: 60 }), word, (words, asked) => {
      const dictionary = new Dictionary(buildSegment([{ seq: 1, content: words.join(' ') }]).dictionary);
      const terms = Array.from({ length: dictionary.size }, (_, index) => dictionary.term(index));
      expect(terms).toEqual(terms.toSorted());
      expect(dictionary.find(asked)).toBe(terms.indexOf(asked));
      const { from, to } = dictionary.withPrefix(asked);
      expect(terms.slice(from, to)).toEqual(terms.filter((term) => term.startsWith(asked)));
    }),
  );
});

test('a merge equals building anew from the kept documents', () => {
  fc.assert(
    fc.property(corpus, fc.integer({ min: 1, max: 5 }), fc.integer(), (documents, size, salt) => {
      const keeps = (seq: number) => (seq + salt) % 3 !== 0;
      const parts = Array.from({ length: Math.ceil(documents.length / size) }, (_, at) => documents.slice(at * size, (at + 1) * size));
      const merged = mergeSegments(parts.map((part) => ({ ...buildSegment(part), kept: Uint8Array.from(part, ({ seq }) => (keeps(seq) ? 1 : 0)) })));
      expect(merged).toEqual(buildSegment(documents.filter(({ seq }) => keeps(seq))));
    }),
  );
});

test('four segments of a size become one, and huge ones are left alone', () => {
  const segments = (...tokens: number[]) => tokens.map((count, id) => ({ id, tokens: count }));
  const chosen = (...tokens: number[]) => segmentsToMerge(segments(...tokens)).map(({ id }) => id);
  expect(chosen(20, 21, 22)).toEqual([]);
  expect(chosen(20, 21, 22, 23)).toEqual([0, 1, 2, 3]);
  expect(chosen(100_000, 20, 21, 22, 23)).toEqual([1, 2, 3, 4]);
  expect(chosen(18e6, 18e6, 18e6, 18e6)).toEqual([]);
});
