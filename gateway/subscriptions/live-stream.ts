import type { ExecutionResult } from 'graphql';
import type { Moment, Subscriber } from './live-hub.ts';

/** What came of an event; null: the stream is over. */
export type AnswerTo = (moment: Moment) => Promise<{ readonly result: ExecutionResult; readonly isLast: boolean } | null>;

/**
 * The answers of one subscription. It is pulled: the next one is made when the client has taken the last, and of the events
 * meanwhile only the newest counts, because it is answered with the present state. So a slow client costs one event, not all
 * that it missed. No async generator: its `return()` would wait for a `next()` that is still waiting for an event.
 */
export class LiveStream implements AsyncIterableIterator<ExecutionResult>, Subscriber {
  readonly #answerTo: AnswerTo;
  readonly #onEnd: () => void;
  #pending: Moment | null = null;
  #wake: (() => void) | null = null;
  #isOver = false;

  constructor(answerTo: AnswerTo, onEnd: () => void) {
    this.#answerTo = answerTo;
    this.#onEnd = onEnd;
  }

  push(moment: Moment): void {
    if (this.#isOver) return;
    this.#pending = moment;
    this.#wake?.();
  }

  async next(): Promise<IteratorResult<ExecutionResult>> {
    while (!this.#isOver) {
      const moment = this.#pending;
      if (moment === null) {
        await new Promise<void>((resolve) => (this.#wake = resolve));
        this.#wake = null;
        continue;
      }
      this.#pending = null;
      const answer = await this.#answerTo(moment);
      if (answer === null || answer.isLast) this.#end();
      if (answer !== null) return { value: answer.result, done: false };
    }
    return { value: undefined, done: true };
  }

  async return(): Promise<IteratorResult<ExecutionResult>> {
    this.#end();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#pending = null;
    this.#wake?.();
    this.#onEnd();
  }
}
