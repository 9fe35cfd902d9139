import { LRUCache } from 'lru-cache';
import snowball from 'snowball-stemmers';
import type { Dictionary } from './dictionary.ts';

/** Words too common to say what is meant; they count only in a query that has no others. */
export const stopWords: ReadonlySet<string> = new Set(
  `a about an and are as at be been but by can could did do does for from had has have he her his how i if in into is it
  its me my no not of on or our s she should so such t than that the their them then there these they this to us was we
  were what when where which who why will with would you your`.split(/\s+/),
);

/** Finds the terms of a vocabulary that share a word's stem. A stem costs 7 µs, so stems are remembered. */
export class EnglishStems {
  readonly #stemmer = snowball.newStemmer('english');
  readonly #stems = new LRUCache<string, string>({ max: 50_000 });

  sameStem(dictionary: Dictionary, word: string): number[] {
    if (!english.test(word)) return [];
    const stem = this.#stem(word);
    // Stems end in letters their words may lack: study → studi, hoping → hope.
    const { from, to } = dictionary.withPrefix(stem.replace(/(?<=..)[ei]$/, ''));
    const lengthMax = stem.length + (stem.length < 5 ? 4 : 8);
    const terms: number[] = [];
    for (let index = from; index < to; index++) {
      if (dictionary.starts[index + 1]! - dictionary.starts[index]! > lengthMax) continue;
      const term = dictionary.term(index);
      if (term !== word && english.test(term) && this.#stem(term) === stem) terms.push(index);
    }
    return terms;
  }

  #stem(word: string): string {
    let stem = this.#stems.get(word);
    if (stem === undefined) this.#stems.set(word, (stem = this.#stemmer.stem(word)));
    return stem;
  }
}

const english = /^[a-z]{3,}$/;
