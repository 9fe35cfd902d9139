import { setTimeout as delay } from 'node:timers/promises';

/** A timer may be early, and a receiver's clock rounds. */
const SECOND_MS = 1010;

/** So much lateness of timers and statements is made up for; who is later had nothing to send. */
const CATCH_UP_MS = 100;

/**
 * At most `perSecond` requests in any second, as the receiver counts them: it saw a request at some moment before that
 * request ended, so a place is free again a second after the end, however long requests are under way. They also start evenly
 * spread: a receiver need not handle bursts (interface 6).
 */
export class Pace {
  readonly #perSecond: number;
  #running = 0;
  #nextStart = 0;
  /** When the places of ended requests are free again, in order. */
  readonly #freeAt: number[] = [];

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** Waits until one more may start. The caller has fewer than `perSecond` under way, and asks for one at a time. */
  async begin(signal: AbortSignal): Promise<void> {
    await until(this.#nextStart, signal);
    this.#forget();
    if (this.#running + this.#freeAt.length >= this.#perSecond) {
      await until(this.#freeAt[0]!, signal);
      this.#forget();
    }
    const now = performance.now();
    this.#nextStart = (now - this.#nextStart > CATCH_UP_MS ? now : this.#nextStart) + 1000 / this.#perSecond;
    this.#running += 1;
  }

  end(): void {
    this.#running -= 1;
    this.#freeAt.push(performance.now() + SECOND_MS);
  }

  #forget(): void {
    const now = performance.now();
    while (this.#freeAt.length > 0 && this.#freeAt[0]! <= now) this.#freeAt.shift();
  }
}

async function until(moment: number, signal: AbortSignal): Promise<void> {
  for (let left = moment - performance.now(); left > 0; left = moment - performance.now()) await delay(Math.ceil(left), undefined, { signal });
}
