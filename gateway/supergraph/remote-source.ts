import type { GraphQLDataSource } from '@apollo/gateway';
import type { GatewayGraphQLResponse } from '@apollo/server-gateway-interface';
import type { Pool } from 'undici';
import type { Clock } from '#platform/clock.ts';
import type { RequestContext } from '#platform/context.ts';
import { DomainError, validationError } from '#platform/errors.ts';
import { signRequest } from '#platform/subgraph/signed-request.ts';

/** A subgraph behind HTTP, over a keep-alive pool. Who asks travels signed: the subgraph accepts nobody else. */
export class RemoteSource implements GraphQLDataSource {
  readonly #name: string;
  readonly #pool: Pool;
  readonly #path: string;
  readonly #secret: string;
  readonly #clock: Clock;

  constructor(options: { name: string; pool: Pool; path: string; secret: string; clock: Clock }) {
    this.#name = options.name;
    this.#pool = options.pool;
    this.#path = options.path;
    this.#secret = options.secret;
    this.#clock = options.clock;
  }

  async process({ request, context }: Parameters<GraphQLDataSource['process']>[0]): Promise<GatewayGraphQLResponse> {
    const caller = context as unknown as RequestContext;
    const { statusCode, headers, body } = await this.#pool
      .request({
        method: 'POST',
        path: this.#path,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${signRequest(caller, this.#secret, this.#clock)}` },
        body: bodyOf(request),
      })
      .catch((cause: unknown) => {
        throw this.#unavailable(cause);
      });
    const text = await body.text();
    if (statusCode !== 200) throw this.#unavailable(new Error(`status ${statusCode}: ${text.slice(0, 200)}`));
    if (headers['idempotent-replayed'] === 'true') caller.answer.replayed = true;
    return JSON.parse(text) as GatewayGraphQLResponse;
  }

  /** Throws when the subgraph is not ready. */
  async check(): Promise<void> {
    const { statusCode, body } = await this.#pool.request({ method: 'GET', path: '/readyz', headersTimeout: 2_000 });
    await body.dump();
    if (statusCode !== 200) throw this.#unavailable(new Error(`status ${statusCode}`));
  }

  /** Called when no request is in hand any more. */
  close(): Promise<void> {
    return this.#pool.destroy();
  }

  #unavailable(cause: unknown): DomainError {
    return new DomainError('unavailable', `The ${this.#name} service does not answer; try again shortly.`, { retry_after_seconds: 1 }, { cause });
  }
}

function bodyOf({ query, variables }: { query?: string; variables?: unknown }): string {
  try {
    return JSON.stringify({ query, variables });
  } catch (error) {
    // JSON.parse takes any depth, JSON.stringify some thousand levels.
    if (error instanceof RangeError) throw validationError([{ path: '', message: 'is nested too deeply' }]);
    throw error;
  }
}
