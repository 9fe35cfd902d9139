import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { query } from '../database/query.ts';

/**
 * Who delivers to which webhook: one process at a time, so that order and pace are one process's business. A lease ends by
 * itself when its process dies, and everything that was sent under it has ended by then.
 */
export class Leases {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #owner: string;
  readonly #leaseMs: number;
  /** How long before its end a lease no longer covers a request that begins. */
  readonly #reserveMs: number;

  constructor({ database, clock, owner, timeoutMs }: { database: Database; clock: Clock; owner: string; timeoutMs: number }) {
    this.#database = database;
    this.#clock = clock;
    this.#owner = owner;
    // It may wait a second for its turn, and then take as long as it may.
    this.#reserveMs = timeoutMs + 2 * HANDOVER_MS;
    this.#leaseMs = this.#reserveMs + MARGIN_MS;
  }

  /** Webhooks with something due that nobody else delivers to; `except` are at work already. */
  async due(except: readonly string[]): Promise<string[]> {
    const rows = await query<{ id: string }>(
      this.#database.orm.em,
      `select id from platform.webhook
        where state = 'enabled' and (lease_owner = $2 or leased_until is null or leased_until <= $1) and id <> all($3)
          and exists (select from platform.webhook_delivery where webhook_id = webhook.id and webhook_delivery.state = 'pending' and next_attempt_at <= $1)`,
      [this.#clock.now(), this.#owner, except],
    );
    return rows.map(({ id }) => id);
  }

  /** Takes or prolongs leases; answers which, and until when (by `performance.now`) requests may begin under them. */
  async take(ids: readonly string[]): Promise<{ ids: ReadonlySet<string>; untilMs: number }> {
    const untilMs = performance.now() + MARGIN_MS;
    const now = this.#clock.now();
    const rows = await query<{ id: string }>(
      this.#database.orm.em,
      `update platform.webhook set lease_owner = $2, leased_until = $3
        where id in (select id from platform.webhook
                      where id = any($4) and state = 'enabled' and (lease_owner = $2 or leased_until is null or leased_until <= $1) for update skip locked)
        returning id`,
      [now, this.#owner, new Date(now.getTime() + this.#leaseMs), ids],
    );
    return { ids: new Set(rows.map(({ id }) => id)), untilMs };
  }

  /** Nothing is under way any more; whoever is next begins a second later, so that no second holds too many. */
  release(): Promise<unknown> {
    return this.#handOver(this.#owner);
  }

  /** The embedded database belongs to this process alone: leases in it are of one that died. */
  async releaseOrphans(): Promise<void> {
    if (this.#database.engine === 'embedded') await this.#handOver(null);
  }

  #handOver(owner: string | null): Promise<unknown> {
    const until = new Date(this.#clock.now().getTime() + HANDOVER_MS);
    return query(this.#database.orm.em, 'update platform.webhook set lease_owner = null, leased_until = $1 where lease_owner = $2 or ($2 is null and leased_until > $1)', [until, owner]);
  }
}

/** Between the last request of one owner and the first of the next. */
const HANDOVER_MS = 1_100;
/** How long requests may begin under a lease before it is prolonged. */
const MARGIN_MS = 10_000;
