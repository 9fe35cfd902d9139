import type { Dictionary } from './dictionary.ts';
import type { EnglishStems } from './english.ts';
import type { QueryWord } from './keyword-query.ts';
import { typosAllowed, walkTypos } from './typo-walk.ts';

/** What stands for a query word in the segments of a workspace. */
export interface ExpandedWord {
  readonly mandatory: boolean;
  /** Whether the term itself, which few documents hold, marks them as exact hits. */
  readonly exact: boolean;
  /** For each segment. */
  readonly expansions: readonly Expansion[];
}

/** The terms of one segment that stand for a query word. */
export interface Expansion {
  /** The word itself and its other forms. */
  readonly firm: readonly WeightedTerm[];
  /** The word itself, letter for letter; -1 when the segment lacks it. */
  readonly own: number;
  /** Words someone may have meant: they count only in documents that hold no firm one. */
  readonly typos: readonly WeightedTerm[];
}

export interface WeightedTerm {
  readonly term: number;
  readonly weight: number;
}

/** Misspellings are looked for of words that fewer documents hold than `typosBelow`. */
export function expand(dictionaries: readonly Dictionary[], words: readonly QueryWord[], stems: EnglishStems, typosBelow: number): ExpandedWord[] {
  const documents = dictionaries.reduce((sum, { seqs }) => sum + seqs.length, 0);
  const holding = new Map(words.map(({ term }) => [term, dictionaries.reduce((sum, dictionary) => sum + documentsWith(dictionary, term), 0)]));
  return words
    .filter(({ term, match }) => match !== 'whole' || holding.get(term)! > 0)
    .map((word) => {
      const firm = dictionaries.map((dictionary) => firmTerms(dictionary, word, stems));
      const firmly = firm.reduce((sum, terms, at) => sum + terms.reduce((most, one) => Math.max(most, dictionaries[at]!.documents[one.term]!), 0), 0);
      const misspelt = firmly < typosBelow;
      const rare = holding.get(word.term)! > 0 && holding.get(word.term)! <= Math.max(2, documents * rareShare);
      const partOfFound = word.partOf !== null && holding.get(word.partOf)! > 0;
      return {
        mandatory: word.match === 'exact',
        exact: word.identifier && rare && !partOfFound,
        expansions: dictionaries.map((dictionary, at) => ({
          firm: firm[at]!,
          own: dictionary.find(word.term),
          typos: misspelt ? typoTerms(dictionary, word, firm[at]!) : [],
        })),
      };
    });
}

function documentsWith(dictionary: Dictionary, term: string): number {
  const index = dictionary.find(term);
  return index === -1 ? 0 : dictionary.documents[index]!;
}

function firmTerms(dictionary: Dictionary, { term, match }: QueryWord, stems: EnglishStems): WeightedTerm[] {
  if (match === 'character') {
    const { from, to } = dictionary.withPrefix(term);
    return Array.from({ length: to - from }, (_, at) => ({ term: from + at, weight: 1 }));
  }
  const own = dictionary.find(term);
  const itself = own === -1 ? [] : [{ term: own, weight: 1 }];
  if (match !== 'loose') return itself;
  return [...itself, ...stems.sameStem(dictionary, term).map((other) => ({ term: other, weight: stemWeight }))];
}

function typoTerms(dictionary: Dictionary, { term, match }: QueryWord, firm: readonly WeightedTerm[]): WeightedTerm[] {
  const limit = match === 'loose' ? typosAllowed(term) : 0;
  if (limit === 0) return [];
  const known = new Set(firm.map((one) => one.term));
  const found: WeightedTerm[] = [];
  walkTypos(dictionary, term, limit, (other, edits) => {
    if (!known.has(other) && lettersOnly.test(dictionary.term(other))) {
      found.push({ term: other, weight: typoWeights[edits]! });
    }
  });
  return found.sort((a, b) => b.weight - a.weight || dictionary.documents[b.term]! - dictionary.documents[a.term]!).slice(0, typosMax);
}

/** Of a workspace's documents: the most that may hold a word for it to be rare. */
const rareShare = 0.0005;
const stemWeight = 0.9;
const typoWeights = [1, 0.4, 0.2];
const typosMax = 100;
const lettersOnly = /^[\p{L}\p{M}]+$/u;
