import { randomInt } from 'node:crypto';

const consonants = 'bdfgklmnprtvz';
const vowels = 'aeiou';

/**
 * A word that nobody else has stored, nor one that a search would take for its misspelling: of 5,000 words of 11 letters, one in
 * a hundred has such a neighbor. It ends in `k`, so that no stemmer of English takes anything off it.
 */
export function uniqueWord(letters = 17): string {
  const pick = (alphabet: string): string => alphabet.charAt(randomInt(alphabet.length));
  return Array.from({ length: letters - 1 }, (_, index) => pick(index % 2 === letters % 2 ? vowels : consonants)).join('') + 'k';
}

/** `abcdef` with its letter at `index` replaced by another of the same kind. */
export function substituted(word: string, index: number): string {
  const alphabet = vowels.includes(word.charAt(index)) ? vowels : consonants;
  const other = alphabet.charAt((alphabet.indexOf(word.charAt(index)) + 1) % alphabet.length);
  return word.slice(0, index) + other + word.slice(index + 1);
}
