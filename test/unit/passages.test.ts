import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutPassages } from '../../subgraphs/memory/ports/embedder/cut-passages.ts';
import { loadMiniLm } from '../../subgraphs/memory/ports/embedder/minilm-model.ts';

const { cut } = await loadMiniLm();
const TOKENS_MAX = 254;

/** Any Unicode, broken surrogates too, mixed with what real content is made of, long enough for several passages. */
const content = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('a', 'ab c. ', 'Quarterly revenue grew. ', '\n\n', '漢字。', '한국어', '😀', '\ud83d', '\u0001', 'ǅ'),
    ),
    { maxLength: 60 },
  )
  .chain((parts) => fc.integer({ min: 1, max: 60 }).map((times) => parts.join('').repeat(times)));

describe('passages', () => {
  it('cover every character that is not blank, in order, within the limit, and never cut a surrogate pair', () => {
    fc.assert(
      fc.property(content, (text) => {
        let covered = 0;
        let start = -1;
        for (const passage of cut(text)) {
          expect(passage.start).toBeGreaterThan(start);
          expect(passage.end).toBeGreaterThan(covered);
          expect(text.slice(covered, Math.max(covered, passage.start)).trim()).toBe('');
          expect(passage.words.flat().length).toBeLessThanOrEqual(TOKENS_MAX);
          expect(splitsPair(text, passage.start) || splitsPair(text, passage.end)).toBe(false);
          ({ start, end: covered } = passage);
        }
        expect(text.slice(covered).trim()).toBe('');
      }),
      { numRuns: 150 },
    );
  });

  it('have the tokens of their own text', async () => {
    const text = 'Überraschung: the café’s €5 menu, e.g. naïve crème-brûlée (2nd ed.), isn’t https://example.org/a?b=c. '.repeat(20);
    const passages = [...cut(text)];
    expect(passages.length).toBeGreaterThan(1);
    for (const passage of passages) {
      const [alone] = cut(text.slice(passage.start, passage.end));
      expect(alone!.words).toEqual(passage.words);
    }
  });

  it('begin and end with a sentence, and repeat the last one', () => {
    const sentence = 'The committee met on Tuesday and approved the budget for the harbour. ';
    const text = sentence.repeat(60);
    const passages = [...cut(text)];
    for (const [index, { start, end }] of passages.entries()) {
      expect(text.slice(start, end)).toMatch(/^The .*harbour\.$/s);
      if (index > 0) expect(passages[index - 1]!.end - start).toBeGreaterThanOrEqual(sentence.length - 1);
    }
  });

  it('of text without sentences overlap too', () => {
    const passages = [...cut('harbour '.repeat(1_000))];
    for (const [index, { start }] of passages.entries()) {
      if (index > 0) expect(passages[index - 1]!.end - start).toBeGreaterThan(32 * 'harbour'.length);
    }
  });

  it('are none in blank content', () => {
    expect([...cut('')]).toEqual([]);
    expect([...cut(' \n\t\u00a0')]).toEqual([]);
  });

  it('are cut in linear time, whatever the content', () => {
    for (const unit of ['a', 'word ', 'One. ', '漢', '\u0001', '\n']) {
      const from = performance.now();
      const passages = [...cutPassages(unit.repeat(1_000_000 / unit.length), (word) => word, TOKENS_MAX)];
      expect(performance.now() - from).toBeLessThan(2_000);
      expect(passages.length > 1).toBe(unit !== '\n');
    }
  });
});

function splitsPair(text: string, at: number): boolean {
  return /[\ud800-\udbff]/.test(text[at - 1] ?? '') && /[\udc00-\udfff]/.test(text[at] ?? '');
}
