import { test } from 'vitest';

export interface ClauseOptions {
  /** Only for promises that need an installation which this run has not got. */
  readonly skipIf?: boolean;
}

/**
 * One promise of the specification: a stable id, its source and what is promised, and the test of it.
 * Id and promise are literals, because coverage.md is made from the source text.
 */
export function clause(id: string, promise: `${'interface' | 'decisions'} §${string}: ${string}`, check: () => Promise<void>, options: ClauseOptions = {}): void {
  test.skipIf(options.skipIf === true)(`${id} ${promise}`, check);
}
