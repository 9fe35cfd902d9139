/** An object in a ranking; `start` and `end` name its best passage, when meaning found it. */
export interface Ranked {
  readonly seq: number;
  /** 0..1, falling with rank. */
  readonly score: number;
  readonly start: number;
  readonly end: number;
}

/** Damping of reciprocal rank fusion, as published (Cormack, Clarke, Büttcher 2009). */
const rrfConstant = 60;

export interface WordHit {
  readonly seq: number;
  readonly exact: boolean;
}

/**
 * Reciprocal rank fusion: the sum over both rankings of 1 / (60 + rank), scaled so that first in both is 1.
 * Objects that hold a rare identifier of the query letter for letter come before all others, whatever meaning says.
 * Measured against min-max: docs/decisions/0004-fusion.md.
 */
export function fuse(words: readonly WordHit[], meanings: readonly Ranked[]): Ranked[] {
  const fused = new Map<number, { score: number; start: number; end: number; exact: boolean }>();
  const first = 2 / (rrfConstant + 1);
  words.forEach(({ seq, exact }, rank) => fused.set(seq, { score: 1 / (rrfConstant + rank + 1) / first, start: 0, end: 0, exact }));
  meanings.forEach(({ seq, start, end }, rank) => {
    const known = fused.get(seq);
    fused.set(seq, { score: (known?.score ?? 0) + 1 / (rrfConstant + rank + 1) / first, start, end, exact: known?.exact ?? false });
  });
  const anyExact = words.some(({ exact }) => exact);
  return [...fused]
    .map(([seq, { score, start, end, exact }]) => ({ seq, start, end, score: anyExact ? (score + (exact ? 1 : 0)) / 2 : score }))
    .sort((a, b) => b.score - a.score || a.seq - b.seq);
}
