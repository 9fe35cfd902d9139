import { stopWords } from '../keyword/english.ts';
import { fold } from '../keyword/fold.ts';

export interface QueryWords {
  /** In double quotes; each is mandatory. */
  readonly phrases: readonly string[];
  readonly words: readonly string[];
}

/** Meilisearch heeds the first ten words of a query and ignores the rest. */
const wordsMax = 10;

/**
 * What of a query is worth those ten places: phrases, then the words that are not among the most common, in their order.
 * Signs around words go: to Meilisearch `-word` means "without this word", which the interface does not promise.
 */
export function queryWords(text: string): QueryWords {
  const pieces = text.split(/["“”]/);
  const isQuoted = (_: string, at: number): boolean => at % 2 === 1 && at < pieces.length - 1;
  const phrases = pieces.filter(isQuoted).map((piece) => wordsOf(piece).slice(0, wordsMax)).filter((words) => words.length > 0);
  const words = [...new Set(pieces.filter((piece, at) => !isQuoted(piece, at)).flatMap(wordsOf))];
  const meaningful = words.filter((word) => !stopWords.has(fold(word)));
  const room = Math.max(0, wordsMax - phrases.flat().length);
  return { phrases: phrases.map((phrase) => `"${phrase.join(' ')}"`), words: (meaningful.length > 0 || phrases.length > 0 ? meaningful : words).slice(0, room) };
}

const wordsOf = (text: string): string[] => text.split(/\s+/).map((word) => word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}\p{M}]+$/gu, '')).filter((word) => word !== '');
