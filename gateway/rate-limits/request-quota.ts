import type { EntityManager } from '@mikro-orm/core';
import type { Logger } from 'pino';
import type { Clock } from '#platform/clock.ts';
import { addUsage, findUsage, monthlyQuotaExceeded, monthOf } from '#platform/usage/usage.ts';

interface Usage {
  /** As the database knew it last, from all gateways. */
  stored: number;
  /** Counted here since. */
  pending: number;
}

export interface RequestQuotaOptions {
  readonly max: number;
  readonly fork: () => EntityManager;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** So much is lost by a crash at most, and so late does a gateway hear of the others. */
export const flushEveryMs = 2_000;

/** Requests of an organization in a calendar month: counted in memory, written every two seconds in one statement. */
export class RequestQuota {
  readonly #options: RequestQuotaOptions;
  readonly #timer: NodeJS.Timeout;
  #month = '';
  #usage = new Map<string, Usage>();
  #flushing: Promise<void> = Promise.resolve();

  constructor(options: RequestQuotaOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.flush(), flushEveryMs).unref();
  }

  /** Counts one request, or refuses it with 403 `quota_exceeded`. */
  async take(organizationId: string): Promise<void> {
    const { clock, max } = this.#options;
    const usage = await this.#usageOf(organizationId);
    if (usage.stored + usage.pending >= max) throw monthlyQuotaExceeded('requests_per_month', `${max} requests`, clock.now());
    usage.pending += 1;
  }

  /** Writes what was counted. One at a time: what fails is written with the next. */
  flush(): Promise<void> {
    return (this.#flushing = this.#flushing.then(() => this.#write()).catch((error: unknown) => this.#options.logger.error({ err: error }, 'requests could not be counted; trying again')));
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }

  async #usageOf(organizationId: string): Promise<Usage> {
    const now = this.#options.clock.now();
    if (monthOf(now) !== this.#month) {
      // What the last seconds of a month were used for is not worth a statement of its own.
      this.#month = monthOf(now);
      this.#usage = new Map();
    }
    const known = this.#usage.get(organizationId);
    if (known !== undefined) return known;
    const stored = (await findUsage(this.#options.fork(), 'requests_per_month', [organizationId], now)).get(organizationId) ?? 0;
    // Others may have asked meanwhile.
    const usage = this.#usage.get(organizationId) ?? { stored, pending: 0 };
    this.#usage.set(organizationId, usage);
    return usage;
  }

  async #write(): Promise<void> {
    const usage = this.#usage;
    const counted = new Map([...usage].flatMap(([id, { pending }]) => (pending > 0 ? [[id, pending] as const] : [])));
    if (counted.size === 0) return;
    const totals = await addUsage(this.#options.fork(), 'requests_per_month', counted, this.#options.clock.now());
    for (const [id, pending] of counted) {
      const one = usage.get(id)!;
      one.stored = totals.get(id)!;
      one.pending -= pending;
    }
  }
}
