import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Dictionary } from '../../subgraphs/memory/ports/keyword/dictionary.ts';
import { buildSegment } from '../../subgraphs/memory/ports/keyword/segment.ts';
import { typosAllowed, walkTypos } from '../../subgraphs/memory/ports/keyword/typo-walk.ts';

test.each([['word', 0], ['words', 1], ['spelling', 1], ['spellings', 2], ['err48213', 0], ['2024', 0], ['привет', 1]])('%s may have %i typos', (word, typos) => {
  expect(typosAllowed(word)).toBe(typos);
});

/** Optimal string alignment, from the definition. */
function edits(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) => Array.from({ length: b.length + 1 }, (_, j) => i + j));
  const cell = (i: number, j: number) => rows[i]?.[j] ?? Infinity;
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? cell(i - 2, j - 2) + 1 : Infinity;
      rows[i]![j] = Math.min(cell(i - 1, j) + 1, cell(i, j - 1) + 1, cell(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1), swapped);
    }
  }
  return cell(a.length, b.length);
}

test('the walk finds exactly the words within the limit', () => {
  const word = fc.stringMatching(/^[abcé]{1,9}$/);
  fc.assert(
    fc.property(fc.uniqueArray(word, { minLength: 1, maxLength: 80 }), word, fc.constantFrom(1, 2), (words, asked, limit) => {
      const dictionary = new Dictionary(buildSegment([{ seq: 1, content: words.join(' ') }]).dictionary);
      const found: [string, number][] = [];
      walkTypos(dictionary, asked, limit, (term, count) => found.push([dictionary.term(term), count]));
      const terms = Array.from({ length: dictionary.size }, (_, index) => dictionary.term(index));
      expect(found).toEqual(terms.map((term) => [term, edits(asked, term)]).filter(([, count]) => (count as number) <= limit));
    }),
    { numRuns: 1000 },
  );
});
