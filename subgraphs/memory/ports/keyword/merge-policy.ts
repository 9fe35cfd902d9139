/**
 * Segments of similar size are merged when there are four: each document is rewritten once per power of four, and a
 * workspace keeps at most three segments of each size. (Eight halve the merging, and a search with misspellings among
 * 100,000 documents then takes twice as long: every segment's vocabulary is walked.) Beyond 20 million words (some 300,000 notes, 30 MB) a segment is
 * left as it is, so that a merge fits in memory.
 */
export function segmentsToMerge<S extends { readonly id: number; readonly tokens: number }>(segments: readonly S[]): readonly S[] {
  const tiers = Map.groupBy(segments, ({ tokens }) => Math.max(0, Math.floor(Math.log(tokens / smallest) / Math.log(fanIn))));
  for (const [, tier] of [...tiers].sort(([a], [b]) => a - b)) {
    let tokens = 0;
    const fitting = tier.toSorted((a, b) => a.id - b.id).filter((segment) => (tokens += segment.tokens) <= tokensMax);
    if (tier.length >= fanIn && fitting.length > 1) return fitting;
  }
  return [];
}

const fanIn = 4;
/** Below this all are of one size. */
const smallest = 1000;
const tokensMax = 20_000_000;
