/** An object in a ranking; `start` and `end` name its best passage, when meaning found it. */
export interface Ranked {
  readonly seq: number;
  /** 0..1, falling with rank. */
  readonly score: number;
  readonly start: number;
  readonly end: number;
}

export interface WordHit {
  readonly seq: number;
  /** Share of the best score that BM25 could give for the query. */
  readonly score: number;
  readonly exact: boolean;
}

/**
 * The mean of both scores, the share of BM25's best and the cosine; who is missing from a ranking has 0 there. So the result
 * is comparable between queries, like its parts. Objects that hold a rare identifier of the query letter for letter come
 * before all others, whatever meaning says. Measured against RRF and min-max: docs/decisions/0004-fusion.md.
 */
export function fuse(words: readonly WordHit[], meanings: readonly Ranked[]): Ranked[] {
  const fused = new Map(words.map(({ seq, score, exact }) => [seq, { seq, score: score / 2, start: 0, end: 0, exact }]));
  for (const { seq, score, start, end } of meanings) {
    const known = fused.get(seq);
    fused.set(seq, { seq, score: (known?.score ?? 0) + score / 2, start, end, exact: known?.exact ?? false });
  }
  const anyExact = words.some(({ exact }) => exact);
  return [...fused.values()]
    .map(({ exact, score, ...rest }) => ({ ...rest, score: anyExact ? (score + (exact ? 1 : 0)) / 2 : score }))
    .sort((a, b) => b.score - a.score || b.seq - a.seq);
}
