import type { Dictionary } from './dictionary.ts';

/** Edits a word may be away from what was typed. Never with digits: ERR-48213 and ERR-48214 are two errors. */
export function typosAllowed(word: string): number {
  if (!/^\p{L}[\p{L}\p{M}]*$/u.test(word)) return 0;
  return word.length >= 9 ? 2 : word.length >= 5 ? 1 : 0;
}

/**
 * Visits the terms within `limit` edits of the word: insertions, deletions, replacements, swapped neighbours (optimal
 * string alignment). The terms are sorted, so the rows of the edit matrix are kept for the prefix shared with the term
 * before, and once a row exceeds the limit everywhere all terms with that prefix are passed by a binary search.
 */
export function walkTypos(dictionary: Dictionary, word: string, limit: number, visit: (term: number, edits: number) => void): void {
  const { units, starts, size } = dictionary;
  const width = word.length + 1;
  const target = Uint16Array.from({ length: word.length }, (_, at) => word.charCodeAt(at));
  const depthMax = word.length + limit;
  const rows = new Uint8Array((depthMax + 1) * width);
  for (let column = 0; column < width; column++) rows[column] = column;
  const prefix = new Uint16Array(depthMax);
  let known = 0; // rows that hold for `prefix`

  for (let term = 0; term < size; ) {
    const start = starts[term]!;
    const length = starts[term + 1]! - start;
    let depth = 0;
    while (depth < known && depth < length && units[start + depth] === prefix[depth]) depth++;
    let least = 0;
    while (depth < length && depth < depthMax && least <= limit) {
      prefix[depth] = units[start + depth]!;
      least = nextRow(rows, target, prefix, depth, limit);
      depth++;
    }
    known = depth;
    if (least > limit || depth < length) {
      term = afterPrefix(dictionary, term, depth);
      continue;
    }
    // Cells far from the diagonal are not filled.
    const edits = word.length - depth > limit ? limit + 1 : rows[depth * width + word.length]!;
    if (edits <= limit) visit(term, edits);
    term++;
  }
}

/** Fills row depth + 1, only where a cell can be within the limit, and answers its smallest cell. */
function nextRow(rows: Uint8Array, target: Uint16Array, prefix: Uint16Array, depth: number, limit: number): number {
  const width = target.length + 1;
  const above = depth * width;
  const row = above + width;
  const from = Math.max(1, depth + 1 - limit);
  const to = Math.min(target.length, depth + 1 + limit);
  const unit = prefix[depth];
  rows[row + from - 1] = from === 1 ? depth + 1 : limit + 1;
  let least = rows[row + from - 1]!;
  const before = depth > 0 ? prefix[depth - 1] : -1;
  for (let column = from; column <= to; column++) {
    const own = target[column - 1];
    let cell = rows[above + column - 1]! + (own === unit ? 0 : 1);
    const inserted = rows[row + column - 1]! + 1;
    if (inserted < cell) cell = inserted;
    const deleted = rows[above + column]! + 1;
    if (column < depth + 1 + limit && deleted < cell) cell = deleted;
    if (column > 1 && own === before && target[column - 2] === unit) {
      const swapped = rows[above - width + column - 2]! + 1;
      if (swapped < cell) cell = swapped;
    }
    rows[row + column] = cell;
    if (cell < least) least = cell;
  }
  return least;
}

/** The first term after this one that does not share its first `length` units. */
function afterPrefix({ units, starts, size }: Dictionary, term: number, length: number): number {
  const own = starts[term]!;
  const shares = (other: number): boolean => {
    const start = starts[other]!;
    if (starts[other + 1]! - start < length) return false;
    for (let at = length - 1; at >= 0; at--) if (units[start + at] !== units[own + at]) return false;
    return true;
  };
  let low = term;
  let step = 1;
  while (low + step < size && shares(low + step)) {
    low += step;
    step *= 2;
  }
  let high = Math.min(size, low + step);
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (shares(middle)) low = middle;
    else high = middle;
  }
  return high;
}
