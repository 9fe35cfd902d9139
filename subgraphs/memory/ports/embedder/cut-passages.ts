import type { Passage } from '../embedder.ts';

/** Each passage begins with up to this many tokens of the one before, so that no thought is lost at a cut. */
const OVERLAP_TOKENS = 48;

/**
 * What is taken as one word: text written without spaces and encoded data become several. WordPiece makes at most 4
 * tokens of a code point (the longest canonical decomposition), so a word of 192 tokens and an overlap always fit into a
 * passage of 254, and every passage gets further than the one before.
 */
const WORD = /\S{1,48}/gu;

interface Word<Tokens> extends Passage {
  startsSentence: boolean;
  tokens: Tokens;
}

export interface TokenizedPassage<Tokens> extends Passage {
  /** The tokens of each word, in order. */
  words: Tokens[];
}

/**
 * Cuts a content into passages of at most `tokensMax` tokens, at the end of a sentence where the second half of a passage
 * has one. Linear and lazy: a caller may stop after the first passage, or pause between two.
 */
export function* cutPassages<Tokens extends { length: number }>(
  content: string,
  tokenize: (word: string) => Tokens,
  tokensMax: number,
): Generator<TokenizedPassage<Tokens>> {
  let words: Word<Tokens>[] = [];
  let size = 0;
  for (const word of wordsOf(content, tokenize)) {
    while (size + word.tokens.length > tokensMax) {
      const end = word.startsSentence ? words.length : lastSentenceEnd(words, tokensMax / 2);
      yield toPassage(words.slice(0, end));
      words = words.slice(overlapStart(words, end));
      size = words.reduce((sum, kept) => sum + kept.tokens.length, 0);
    }
    words.push(word);
    size += word.tokens.length;
  }
  if (words.length > 0) yield toPassage(words);
}

function* wordsOf<Tokens>(content: string, tokenize: (word: string) => Tokens): Generator<Word<Tokens>> {
  const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });
  for (const { segment, index } of sentences.segment(content)) {
    let startsSentence = true;
    for (const match of segment.matchAll(WORD)) {
      const start = index + match.index;
      yield { start, end: start + match[0].length, startsSentence, tokens: tokenize(match[0]) };
      startsSentence = false;
    }
  }
}

function lastSentenceEnd(words: Word<{ length: number }>[], tokensMin: number): number {
  let size = 0;
  let end = words.length;
  for (const [index, word] of words.entries()) {
    if (word.startsSentence && size >= tokensMin) end = index;
    size += word.tokens.length;
  }
  return end;
}

/** Whole sentences if one begins within the overlap, else as many words as it holds. */
function overlapStart(words: Word<{ length: number }>[], end: number): number {
  let start = end;
  let sentenceStart: number | undefined;
  for (let size = 0; start > 0; start -= 1) {
    const word = words[start - 1]!;
    size += word.tokens.length;
    if (size > OVERLAP_TOKENS) break;
    if (word.startsSentence) sentenceStart = start - 1;
  }
  return sentenceStart ?? start;
}

function toPassage<Tokens>(words: Word<Tokens>[]): TokenizedPassage<Tokens> {
  return { start: words[0]!.start, end: words.at(-1)!.end, words: words.map((word) => word.tokens) };
}
