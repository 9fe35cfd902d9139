import { Agent, request } from 'undici';
import type { Dispatcher } from 'undici';
import { signedHeaders } from './signature.ts';
import { publicLookup, refusalOfUrl, RefusedTarget } from './target.ts';
import type { Resolve } from './target.ts';

/** What one attempt came to; `status` is null when there was no answer. */
export interface Attempt {
  readonly status: number | null;
  /** Null: accepted. */
  readonly error: string | null;
  readonly responseMs: number;
}

export interface Outgoing {
  readonly url: string;
  readonly messageId: string;
  readonly body: string;
  readonly secrets: readonly Buffer[];
}

interface SenderOptions {
  readonly timeoutMs: number;
  readonly allowPrivate: boolean;
  readonly resolve?: Resolve;
}

/** Of an answer's body no more is read than this, and nothing of it is kept: it would show what stands behind an address. */
const answerBytesMax = 65_536;

/** Sends messages to receivers. Redirects are not followed: they are failures. */
export class Sender {
  readonly #options: SenderOptions;
  readonly #agent: Agent;

  constructor(options: SenderOptions) {
    this.#options = options;
    const { allowPrivate, resolve, timeoutMs } = options;
    this.#agent = new Agent({ pipelining: 1, connect: { timeout: timeoutMs, ...(!allowPrivate && { lookup: publicLookup(resolve) }) } });
  }

  async send({ url, messageId, body, secrets }: Outgoing, at: Date, aborted: AbortSignal): Promise<Attempt> {
    const began = performance.now();
    const outcome = (status: number | null, error: string | null): Attempt => ({ status, error, responseMs: Math.round(performance.now() - began) });
    // A literal address is never looked up; and the setting may have changed since the webhook was made.
    const refusal = refusalOfUrl(url, this.#options.allowPrivate);
    if (refusal !== null) return outcome(null, `refused: the URL ${refusal}`);
    const timeout = AbortSignal.timeout(this.#options.timeoutMs);
    try {
      const answer = await request(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': 'Quadrivium-Webhooks', ...signedHeaders(secrets, messageId, at, body) },
        body,
        dispatcher: this.#agent,
        signal: AbortSignal.any([timeout, aborted]),
      });
      const accepted = answer.statusCode >= 200 && answer.statusCode < 300;
      const result = outcome(answer.statusCode, accepted ? null : `answered ${answer.statusCode}`);
      await discard(answer.body);
      return result;
    } catch (error) {
      if (aborted.aborted) throw error;
      return outcome(null, timeout.aborted ? `no answer within ${this.#options.timeoutMs / 1000} s` : reasonOf(error));
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

async function discard(body: Dispatcher.ResponseData['body']): Promise<void> {
  await body.dump({ limit: answerBytesMax }).catch(() => undefined);
}

function reasonOf(error: unknown): string {
  const cause = error instanceof AggregateError ? error.errors[0] : error;
  if (cause instanceof RefusedTarget) return `refused: ${cause.message}`;
  return cause instanceof Error ? (cause.message || cause.name).slice(0, 300) : 'no connection';
}
