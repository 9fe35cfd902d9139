import { isUnspacedCharacter, runsOf, wordsOf } from './tokenizer.ts';

/** Matches folded text that holds the words of the folded phrase one after another, whatever signs stand between them. */
export function phrasePattern(folded: string): RegExp | null {
  const words = runsOf(folded).flatMap(wordsOf);
  if (words.length === 0) return null;
  const open = isUnspacedCharacter(Array.from(words[0]!)[0]!) ? '' : `(?<!${letter})`;
  const close = isUnspacedCharacter(Array.from(words.at(-1)!).at(-1)!) ? '' : `(?!${letter})`;
  return new RegExp(open + words.join(notLetters) + close, 'u');
}

const letter = String.raw`[\p{L}\p{N}\p{M}]`;
const notLetters = String.raw`[^\p{L}\p{N}\p{M}]+`;
