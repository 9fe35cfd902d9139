import { stopWords } from './english.ts';
import { fold } from './fold.ts';
import { phrasePattern } from './phrase.ts';
import { compoundsOf, isUnspacedCharacter, partsOf, runsOf } from './tokenizer.ts';

export interface ParsedQuery {
  readonly words: readonly QueryWord[];
  /** Each must match the folded content. */
  readonly phrases: readonly RegExp[];
}

export interface QueryWord {
  readonly term: string;
  /**
   * `loose`: the word, its other forms and misspellings. `exact`: this very term, and a document without it is no hit.
   * `whole`: an identifier whose parts are words of their own; of no account where it does not occur.
   * `character`: all terms that begin with it.
   */
  readonly match: 'loose' | 'exact' | 'whole' | 'character';
  /** Would one expect the document that holds it, when few do? */
  readonly identifier: boolean;
  /** The identifier this is a part of: where that occurs, its parts prove nothing. */
  readonly partOf: string | null;
}

/** Words outside double quotes, and the words of `"exact phrases"`, which are mandatory. Repeated words count once. */
export function parseQuery(text: string): ParsedQuery {
  const words = new Map<string, QueryWord>();
  const phrases: RegExp[] = [];
  const pieces = fold(text).split(/["“”]/);
  pieces.forEach((piece, at) => {
    const quoted = at % 2 === 1 && at < pieces.length - 1;
    const pattern = quoted ? phrasePattern(piece) : null;
    if (pattern) phrases.push(pattern);
    for (const run of runsOf(piece)) for (const word of wordsOfRun(run, quoted)) {
      if (word.match === 'exact' || !words.has(word.term)) words.set(word.term, word);
    }
  });
  const all = [...words.values()];
  const meaningful = all.filter(({ term, match }) => match === 'exact' || !stopWords.has(term));
  const counted = (meaningful.length > 0 ? meaningful : all).slice(0, wordsMax);
  const alone = counted.filter(({ match }) => match !== 'whole').length === 1;
  return { words: alone ? counted.map((word) => ({ ...word, identifier: true })) : counted, phrases };
}

// A question of more words is a text; its first words say enough, and the work stays bounded.
const wordsMax = 64;

function wordsOfRun(run: string, quoted: boolean): QueryWord[] {
  const compounds = compoundsOf(run).map((term): QueryWord => ({ term, match: 'whole', identifier: namesOneThing(term), partOf: null }));
  const parts = partsOf(run);
  const searched = parts.length > 1 ? parts.filter((part) => !isUnspacedCharacter(part)) : parts;
  return [
    ...compounds,
    ...searched.map((term): QueryWord => {
      const match = isUnspacedCharacter(term) ? 'character' : quoted ? 'exact' : 'loose';
      return { term, match, identifier: namesOneThing(term), partOf: compounds[0]?.term ?? null };
    }),
  ];
}

/** ERR-48213-X, v2.10.3, foo_bar, user@host; not 2024, top-10 or well-known, which few documents of a small workspace hold by chance. */
function namesOneThing(term: string): boolean {
  return (/\d/.test(term) && term.length > 5) || /^\d{5}$/.test(term) || /[_@.:]/.test(term);
}
