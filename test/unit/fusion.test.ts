import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fuse } from '../../subgraphs/memory/fusion.ts';

const word = (seq: number, score: number, exact = false) => ({ seq, score, exact });
const meaning = (seq: number, score: number) => ({ seq, score, start: seq, end: seq + 1 });

it('is the mean of both scores, with 0 for who is missing', () => {
  expect(fuse([word(1, 0.8), word(2, 0.4)], [meaning(2, 0.9), meaning(3, 0.5)]).map(({ seq, score }) => [seq, Number(score.toFixed(3))])).toEqual([[2, 0.65], [1, 0.4], [3, 0.25]]);
});

it('keeps the best passage where meaning found one', () => {
  expect(fuse([word(7, 1)], [meaning(7, 0.1)])).toMatchObject([{ seq: 7, start: 7, end: 8 }]);
});

it('puts an exact hit on a rare identifier before all others, however near they are', () => {
  expect(fuse([word(1, 0.9), word(2, 0.2, true)], [meaning(1, 1), meaning(3, 1)]).map(({ seq }) => seq)[0]).toBe(2);
});

it('gives every object once, scores within 0 and 1, falling', () => {
  const score = fc.double({ min: 0, max: 1, noNaN: true });
  const unique = { selector: ({ seq }: { seq: number }) => seq, maxLength: 50 };
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.record({ seq: fc.nat(60), score, exact: fc.boolean() }), unique),
      fc.uniqueArray(fc.record({ seq: fc.nat(60), score, start: fc.constant(0), end: fc.constant(0) }), unique),
      (words, meanings) => {
        const fused = fuse(words, meanings);
        expect(new Set(fused.map(({ seq }) => seq))).toEqual(new Set([...words, ...meanings].map(({ seq }) => seq)));
        expect(fused).toHaveLength(new Set(fused.map(({ seq }) => seq)).size);
        for (const [index, { score: own }] of fused.entries()) {
          expect(own).toBeGreaterThanOrEqual(0);
          expect(own).toBeLessThanOrEqual(1);
          if (index > 0) expect(own).toBeLessThanOrEqual(fused[index - 1]!.score);
        }
      },
    ),
  );
});
