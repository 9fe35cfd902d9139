import { foldWithPositions } from './folded-text.ts';
import { isUnspacedCharacter } from './tokenizer.ts';

/**
 * The best one to three passages of the content, best first: HTML-escaped, the given folded terms wrapped in <em>.
 * Nothing when no term occurs, except with `whole`: then the content itself is the one passage.
 */
export function highlight(content: string, terms: readonly string[], { whole = false } = {}): string[] {
  const marks = marksIn(content, terms);
  if (whole) return content === '' ? [] : [markUp(content, 0, content.length, marks)];
  return bestWindows(marks).map(({ start, end }) => {
    const passage = passageAround(content, start, end);
    return markUp(content, passage.start, passage.end, marks);
  });
}

interface Mark {
  readonly start: number;
  readonly end: number;
  readonly term: number;
}

const windowLength = 200;
const windowsMax = 3;
/** A page of ten results of 1 MB must not hold up others: a term costs 0.2 ms per MB, so there it is the first 20 that count. */
const charactersTimesTermsMax = 20_000_000;
const occurrencesMax = 200;

/** In order of appearance. Terms are words: `art` is not marked in `party`, but may stand beside an unspaced script. */
function marksIn(content: string, terms: readonly string[]): Mark[] {
  const { text, originalPosition } = foldWithPositions(content);
  const marks: Mark[] = [];
  terms.slice(0, Math.ceil(charactersTimesTermsMax / (content.length + 1))).forEach((term, index) => {
    let count = 0;
    for (let at = text.indexOf(term); at !== -1 && count < occurrencesMax; at = text.indexOf(term, at + 1)) {
      const end = at + term.length;
      if (joins(text, at - 1, at) || joins(text, end - 1, end)) continue;
      marks.push({ start: originalPosition(at), end: originalPosition(end), term: index });
      count++;
    }
  });
  return marks.sort((a, b) => a.start - b.start || b.end - a.end);
}

/** Whether these neighbours belong to one word. */
function joins(text: string, left: number, right: number): boolean {
  return spacedLetter(text, left) && spacedLetter(text, right);
}

function spacedLetter(text: string, at: number): boolean {
  const character = text.charAt(at);
  if (character <= '\x7f') return /[a-z0-9]/.test(character);
  return /[\p{L}\p{N}\p{M}]/u.test(character) && !isUnspacedCharacter(character);
}

interface Window {
  readonly start: number;
  readonly end: number;
  readonly terms: ReadonlySet<number>;
  readonly marks: number;
}

/** One after another the window that shows most terms not shown yet, then most terms, then most marks; no two overlap. */
function bestWindows(marks: readonly Mark[]): Window[] {
  let windows = marks.map((_, first) => windowFrom(marks, first));
  const chosen: Window[] = [];
  const shown = new Set<number>();
  while (windows.length > 0 && chosen.length < windowsMax) {
    const worth = ({ terms, marks: count }: Window) => [...terms].filter((term) => !shown.has(term)).length * 1e6 + terms.size * 1e4 + count;
    const best = windows.reduce((a, b) => (worth(b) > worth(a) ? b : a));
    chosen.push(best);
    best.terms.forEach((term) => shown.add(term));
    windows = windows.filter(({ start, end }) => start >= best.end + windowLength || best.start >= end + windowLength);
  }
  return chosen;
}

function windowFrom(marks: readonly Mark[], first: number): Window {
  const { start } = marks[first]!;
  const inside = [marks[first]!];
  for (let at = first + 1; at < marks.length && marks[at]!.end <= start + windowLength; at++) inside.push(marks[at]!);
  return { start, end: Math.max(...inside.map(({ end }) => end)), terms: new Set(inside.map(({ term }) => term)), marks: inside.length };
}

/** Filled up to the window's length with what stands around, cut between words. */
function passageAround(content: string, start: number, end: number): { start: number; end: number } {
  const room = Math.max(0, windowLength - (end - start));
  const from = Math.max(0, start - Math.floor(room / 2));
  const to = Math.min(content.length, end + (room - (start - from)));
  return { start: from === 0 ? 0 : from + cutAfterSpace(content.slice(from, start)), end: to === content.length ? to : to - cutBeforeSpace(content.slice(end, to)) };
}

function cutAfterSpace(text: string): number {
  const space = text.search(/\s/);
  return space === -1 ? brokenPair(text) : space + 1;
}

function cutBeforeSpace(text: string): number {
  const space = /\s\S*$/.exec(text);
  return space ? text.length - space.index : /[\ud800-\udbff]$/.test(text) ? 1 : 0;
}

/** Half a surrogate pair is no character. */
function brokenPair(text: string): number {
  return /^[\udc00-\udfff]/.test(text) ? 1 : 0;
}

function markUp(content: string, start: number, end: number, marks: readonly Mark[]): string {
  let html = '';
  let at = start;
  for (const mark of joined(marks)) {
    if (mark.start < at || mark.end > end) continue;
    html += `${escapeHtml(content.slice(at, mark.start))}<em>${escapeHtml(content.slice(mark.start, mark.end))}</em>`;
    at = mark.end;
  }
  return (html + escapeHtml(content.slice(at, end))).trim();
}

/** Overlapping marks, as of an identifier and its parts, become one. */
function joined(marks: readonly Mark[]): { start: number; end: number }[] {
  const whole: { start: number; end: number }[] = [];
  for (const { start, end } of marks) {
    const last = whole.at(-1);
    if (last && start < last.end) last.end = Math.max(last.end, end);
    else whole.push({ start, end });
  }
  return whole;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character]!);
}
