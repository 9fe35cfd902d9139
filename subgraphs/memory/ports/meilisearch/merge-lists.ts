/** What Meilisearch found for one query, best first. */
export interface ScoredList {
  readonly hits: readonly { readonly seq: number; readonly score: number }[];
  /** How many it would have found without a limit, about. */
  readonly total: number;
}

/**
 * One ranking of what has all the words (`all`) and of what has some (a list for each word). Meilisearch itself can drop
 * words only from the end of a query, or by how often they occur in the whole index, which other tenants' texts decide.
 * Objects with all the words come first. Of the others, with `tiers`, those with more words; else those whose words are
 * rarer among this workspace's `documents`.
 */
export function mergeLists(all: ScoredList, words: readonly ScoredList[], { tiers, documents }: { tiers: boolean; documents: number }): { seq: number; score: number }[] {
  const count = Math.max(1, words.length);
  const weights = words.map(({ total }) => (tiers ? 1 : Math.log(1 + (Math.max(documents, total) - total + 0.5) / (total + 0.5))));
  const bound = weights.reduce((sum, weight) => sum + weight, 0);
  const found = new Map<number, { held: number; share: number }>();
  words.forEach(({ hits }, word) => {
    for (const { seq, score } of hits) {
      const known = found.get(seq) ?? { held: 0, share: 0 };
      found.set(seq, { held: known.held + 1, share: known.share + (score * weights[word]!) / bound });
    }
  });
  const scores = new Map([...found].map(([seq, { held, share }]) => [seq, tiers ? (held - 1 + share) / count : (share * (count - 1)) / count]));
  for (const { seq, score } of all.hits) scores.set(seq, (count - 1 + score) / count);
  return [...scores].map(([seq, score]) => ({ seq, score })).sort((a, b) => b.score - a.score || b.seq - a.seq);
}
