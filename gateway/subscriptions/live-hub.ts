import type { LiveEvent } from '#platform/outbox/record-events.ts';

/** Who waits for a topic. */
export interface Subscriber {
  push(moment: Moment): void;
}

/** One event, as all its subscribers see it: what is the same for several of them is done once. */
export class Moment {
  readonly #done = new Map<string, Promise<unknown>>();

  once<T>(key: string, make: () => Promise<T>): Promise<T> {
    const known = this.#done.get(key) ?? make();
    this.#done.set(key, known);
    return known as Promise<T>;
  }
}

/** `memory.processed mem_…` */
export const topicOf = (type: string, subjectId: string): string => `${type} ${subjectId}`;

/** Hands events to the subscriptions of this gateway that named their subjects. */
export class LiveHub {
  readonly #topics = new Map<string, Set<Subscriber>>();

  publish({ type, subject_ids: subjectIds }: LiveEvent): void {
    const moment = new Moment();
    for (const id of subjectIds) for (const subscriber of this.#topics.get(topicOf(type, id)) ?? []) subscriber.push(moment);
  }

  /** The answer ends it. */
  subscribe(topic: string, subscriber: Subscriber): () => void {
    const subscribers = this.#topics.get(topic) ?? new Set();
    this.#topics.set(topic, subscribers.add(subscriber));
    return () => {
      subscribers.delete(subscriber);
      if (subscribers.size === 0 && this.#topics.get(topic) === subscribers) this.#topics.delete(topic);
    };
  }

  /** Everybody who waits; after a lost connection they may have missed what they wait for. */
  subscribers(): Subscriber[] {
    return [...this.#topics.values()].flatMap((subscribers) => [...subscribers]);
  }

  get size(): number {
    return this.subscribers().length;
  }
}
