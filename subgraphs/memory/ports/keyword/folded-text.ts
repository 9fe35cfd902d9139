import { fold } from './fold.ts';

/** Folded text that still knows where its characters stood. */
export interface FoldedText {
  readonly text: string;
  originalPosition(position: number): number;
}

export function foldWithPositions(original: string): FoldedText {
  const text = fold(original);
  // Without marks folding can only lengthen a text: the same length means the same places.
  if (text.length === original.length && !mark.test(original)) return { text, originalPosition: (position) => position };
  return foldByRuns(original);
}

/** What is not ASCII, with the character before it, to which marks may belong, is folded by itself. */
function foldByRuns(original: string): FoldedText {
  let text = '';
  let end = 0;
  const shifts = [{ folded: 0, original: 0 }];
  const append = (piece: string, folded: string): void => {
    text += folded;
    end += piece.length;
    if (folded.length !== piece.length) shifts.push({ folded: text.length, original: end });
  };
  for (const { 0: run, index } of original.matchAll(notAsciiRun)) {
    const before = original.slice(end, index);
    append(before, fold(before));
    const clusters = run.match(cluster)!;
    const folded = clusters.map(fold);
    if (folded.join('') === fold(run)) clusters.forEach((piece, at) => append(piece, folded[at]!));
    else append(run, fold(run));
  }
  append(original.slice(end), fold(original.slice(end)));
  return {
    text,
    originalPosition(position) {
      const shift = shifts[lastAtOrBefore(shifts, position)]!;
      return Math.min(original.length, shift.original + position - shift.folded);
    },
  };
}

function lastAtOrBefore(shifts: readonly { folded: number }[], position: number): number {
  let low = 0;
  let high = shifts.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (shifts[middle]!.folded <= position) low = middle;
    else high = middle;
  }
  return low;
}

const mark = /\p{M}/u;
const notAsciiRun = /[\x00-\x7f]?[^\x00-\x7f]+/g;
const cluster = /[^]\p{M}*/gu;
