import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { query } from '../database/query.ts';
import type { Outcome } from './outcomes.ts';
import { Pace } from './pace.ts';
import type { Sender } from './send.ts';

/** How long something new waits at most while requests are under way. */
const LOOK_MS = 500;

/** So many requests of one webhook are under way at once: with answers within 200 ms that is 100 a second. Their bodies are all that a lane holds. */
const UNDER_WAY_MAX = 20;

interface Due {
  readonly id: string;
  readonly event_id: number;
  readonly subject_id: string;
  readonly message_id: string;
  readonly attempts: number;
  readonly body: string;
  readonly url: string;
  readonly secret: Buffer;
  readonly old_secret: Buffer | null;
}

export interface LaneOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly sender: Sender;
  readonly perSecond: number;
  readonly record: (outcome: Outcome) => Promise<unknown>;
}

/**
 * The deliveries to one webhook, while this process holds its lease: due ones in order, but never two of one subject, because
 * each waits until the one before it is delivered or given up. A crash between sending and recording leaves a delivery
 * pending, so it is sent again.
 */
export class Lane {
  readonly #webhookId: string;
  readonly #owner: string;
  readonly #options: LaneOptions;
  readonly #pace: Pace;
  readonly #underWayMax: number;
  readonly #underWay = new Map<string, Promise<void>>();
  #leasedUntilMs = 0;
  /** Why what was sent could not be recorded. */
  #fault: unknown = null;

  constructor(webhookId: string, owner: string, options: LaneOptions) {
    this.#webhookId = webhookId;
    this.#owner = owner;
    this.#options = options;
    this.#pace = new Pace(options.perSecond);
    this.#underWayMax = Math.min(UNDER_WAY_MAX, options.perSecond);
  }

  /** Requests may begin until then, by `performance.now`. */
  set leasedUntilMs(until: number) {
    this.#leasedUntilMs = until;
  }

  get isLeased(): boolean {
    return performance.now() < this.#leasedUntilMs;
  }

  /** Works until nothing is due, or the lease is lost, or `stopping`; what is under way then ends or is `aborted`. */
  async run(stopping: AbortSignal, aborted: AbortSignal): Promise<void> {
    this.#fault = null;
    try {
      while (this.isLeased && !stopping.aborted) {
        const due = await this.#due(this.#underWayMax - this.#underWay.size);
        for (const one of due) {
          if (!this.isLeased) return;
          await this.#pace.begin(stopping);
          this.#start(one, aborted);
        }
        if (this.#underWay.size === 0) return;
        const ends = [...this.#underWay.values()];
        if (this.#underWay.size === this.#underWayMax) await Promise.race(ends);
        // The end of one may make the next of its subject due.
        else if (due.length === 0) await Promise.race([...ends, delay(LOOK_MS, undefined, { signal: stopping })]);
        if (this.#fault !== null) throw this.#fault;
      }
    } finally {
      await Promise.all(this.#underWay.values());
    }
  }

  #due(count: number): Promise<Due[]> {
    return query<Due>(this.#options.database.orm.em, dueStatement, [this.#webhookId, this.#options.clock.now(), this.#owner, [...this.#underWay.keys()], count]);
  }

  #start(due: Due, aborted: AbortSignal): void {
    const done = this.#deliver(due, aborted)
      .catch((error: unknown) => {
        if (!aborted.aborted) this.#fault = error;
      })
      .finally(() => this.#underWay.delete(due.id));
    this.#underWay.set(due.id, done);
  }

  async #deliver(due: Due, aborted: AbortSignal): Promise<void> {
    const { clock, sender, record } = this.#options;
    const secrets = due.old_secret === null ? [due.secret] : [due.secret, due.old_secret];
    const attempt = await sender.send({ url: due.url, messageId: due.message_id, body: due.body, secrets }, clock.now(), aborted).finally(() => this.#pace.end());
    await record({ deliveryId: due.id, webhookId: this.#webhookId, subjectId: due.subject_id, eventId: due.event_id, attempts: due.attempts + 1, attempt, at: clock.now() });
  }
}

const dueStatement = `
  select delivery.id, delivery.event_id, delivery.subject_id, delivery.message_id, delivery.attempts, body, url, secret,
         case when old_secret_until > $2 then old_secret end as old_secret
    from platform.webhook
    join platform.webhook_delivery delivery on delivery.webhook_id = webhook.id and delivery.state = 'pending' and next_attempt_at <= $2
    join platform.webhook_message message on message.id = delivery.message_id
   where webhook.id = $1 and webhook.state = 'enabled' and lease_owner = $3 and delivery.id <> all($4)
     and not exists (select from platform.webhook_delivery earlier
                      where earlier.webhook_id = $1 and earlier.subject_id = delivery.subject_id and earlier.state = 'pending' and earlier.event_id < delivery.event_id)
   order by next_attempt_at, delivery.event_id
   limit $5`;
