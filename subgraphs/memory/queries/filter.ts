/** What a search may be narrowed to; absent members narrow nothing. */
export interface RetrieveFilter {
  readonly category: string | null;
  readonly department: string | null;
  /** All of them. */
  readonly tags: readonly string[];
  /** Exclusive. */
  readonly createdAfter: Date | null;
  /** Exclusive. */
  readonly createdBefore: Date | null;
}

export const noFilter: RetrieveFilter = { category: null, department: null, tags: [], createdAfter: null, createdBefore: null };

/** The filter as conditions on memory.object, with parameters numbered from `first`. */
export function filterConditions(filter: RetrieveFilter, first: number): { sql: string; params: unknown[] } {
  const conditions: [condition: (parameter: string) => string, value: unknown][] = [
    [(parameter) => `object.category = ${parameter}`, filter.category],
    [(parameter) => `object.department = ${parameter}`, filter.department],
    [(parameter) => `object.tags @> ${parameter}::jsonb`, filter.tags.length > 0 ? JSON.stringify(filter.tags) : null],
    [(parameter) => `object.created_at > ${parameter}::timestamptz`, filter.createdAfter],
    [(parameter) => `object.created_at < ${parameter}::timestamptz`, filter.createdBefore],
  ];
  const given = conditions.filter(([, value]) => value !== null);
  return { sql: given.map(([condition], index) => ` and ${condition(`$${first + index}`)}`).join(''), params: given.map(([, value]) => value) };
}
