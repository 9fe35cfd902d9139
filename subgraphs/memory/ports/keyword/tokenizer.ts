/**
 * A run is what stands between spaces and punctuation, with the signs that join identifiers kept inside: `report`,
 * `err-48213-x`, `user@host.example`. It is indexed as its parts and, when joined, also whole, so that an identifier
 * is one rare term. Chinese, Japanese and the like have no spaces: every character is indexed with its successor and the
 * last one alone, so that two characters are one term and a single one is a prefix.
 * A regular expression takes 7 µs for 400 bytes; Intl.Segmenter took 29 and cuts identifiers apart.
 */
export function runsOf(folded: string): readonly string[] {
  return folded.match(ascii.test(folded) ? asciiRun : anyRun) ?? [];
}

/** What a run joins, unspaced scripts left whole. */
export function wordsOf(run: string): readonly string[] {
  return run.split(joint);
}

export function partsOf(run: string): readonly string[] {
  if (!joinedOrUnspaced.test(run)) return [cut(run)];
  const parts: string[] = [];
  for (const part of wordsOf(run)) {
    for (const piece of part.match(piecesOfPart)!) {
      if (unspacedStart.test(piece)) parts.push(...pairs(piece));
      else parts.push(cut(piece));
    }
  }
  return parts;
}

/** The run itself, and what a looser sign joins in it: `err-1-x.log` is also `err-1-x`. Empty for a plain word. */
export function compoundsOf(run: string): readonly string[] {
  if (!joined.test(run)) return [];
  const inner = run.split(looseJoint).filter((piece) => piece !== run && joined.test(piece));
  return [...new Set([run, ...inner])].map(cut);
}

/** A single character of an unspaced script: its occurrences are the terms that begin with it. */
export function isUnspacedCharacter(term: string): boolean {
  return unspacedCharacter.test(term);
}

// Beyond any identifier; keeps pasted binary from filling the vocabulary.
const termLengthMax = 100;

function cut(term: string): string {
  return term.length > termLengthMax ? term.slice(0, termLengthMax) : term;
}

function pairs(piece: string): string[] {
  const characters = Array.from(piece);
  return characters.map((character, index) => character + (characters[index + 1] ?? ''));
}

const unspaced = String.raw`\p{Script=Han}\p{Script_Extensions=Hiragana}\p{Script_Extensions=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`;
const joint = /:\/\/|::|[-_.@:/]/;
const looseJoint = /:\/\/|::|[.@:/]/;

const ascii = /^[\x00-\x7f]*$/;
const asciiRun = run('[a-z0-9]', 'g');
const anyRun = run(String.raw`[\p{L}\p{N}\p{M}]`, 'gu');
const joined = /[-_.@:/]/;
const joinedOrUnspaced = new RegExp(`[-_.@:/${unspaced}]`, 'u');
const piecesOfPart = new RegExp(`[${unspaced}]+|[^${unspaced}]+`, 'gu');
const unspacedStart = new RegExp(`^[${unspaced}]`, 'u');
const unspacedCharacter = new RegExp(`^[${unspaced}]$`, 'u');

function run(letter: string, flags: string): RegExp {
  return new RegExp(`${letter}+(?:(?:${joint.source})${letter}+)*`, flags);
}
