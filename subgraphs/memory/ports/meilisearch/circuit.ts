import { MeilisearchApiError, MeilisearchError } from 'meilisearch';
import type { Logger } from 'pino';

/**
 * Meilisearch may be away. Whoever calls it through here gets null then, at once: only every few seconds one call tries
 * again. The outage is one warning when it begins and one line when it ends, however many ask in between.
 */
export class Circuit {
  readonly #logger: Logger;
  readonly #retryMs: number;
  /** By performance.now(); null while all is well. */
  #nextTry: number | null = null;

  constructor({ logger, retryMs = 5000 }: { logger: Logger; retryMs?: number }) {
    this.#logger = logger;
    this.#retryMs = retryMs;
  }

  async call<T extends object>(ask: () => Promise<T>): Promise<T | null> {
    if (this.#nextTry !== null && performance.now() < this.#nextTry) return null;
    if (this.#nextTry !== null) this.#nextTry = performance.now() + this.#retryMs;
    try {
      const answer = await ask();
      if (this.#nextTry !== null) this.#logger.info('Meilisearch is back.');
      this.#nextTry = null;
      return answer;
    } catch (error) {
      if (!isAway(error)) throw error;
      if (this.#nextTry === null) this.#logger.warn({ err: error }, 'Meilisearch is away: PostgreSQL searches by words until it is back.');
      this.#nextTry = performance.now() + this.#retryMs;
      return null;
    }
  }
}

/** Everything that Meilisearch or the way to it may mend, a refused key included; not what it says of the request itself. */
function isAway(error: unknown): boolean {
  if (error instanceof MeilisearchApiError) return ![400, 413].includes(error.response.status) || error.cause?.code === 'index_not_found';
  return error instanceof MeilisearchError;
}
