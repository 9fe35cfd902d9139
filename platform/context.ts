import type { EntityManager } from '@mikro-orm/core';
import type { Logger } from 'pino';
import type { Clock } from './clock.ts';
import type { GroupCommit } from './group-commit.ts';
import type { IdempotencyKey } from './idempotency.ts';
import type { Principal } from './principal.ts';
import type { Secrets } from './secrets.ts';
import type { Config } from './config.ts';

/** What every request and every job of one process shares. */
export interface Platform {
  readonly config: Config;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly secrets: Secrets;
  readonly groupCommit: GroupCommit;
  /** The areas of this installation that give something to a full export. */
  readonly exportAreas: readonly string[];
}

/**
 * Everything an operation can reach. Built in one place per request and one place per job.
 * `Ports` are the slice's own doors to the outside.
 */
export interface Context<Ports = unknown> extends Platform, RequestContext {
  /** A fork of the ORM's entity manager; inside a command it carries the transaction. */
  readonly em: EntityManager;
  /**
   * For hand-written reads outside a transaction. Every request has the same one: a statement leaves nothing in it, and forking
   * an entity manager costs 8 µs.
   */
  readonly reader: EntityManager;
  readonly ports: Ports;
}

/** What an operation says about its answer beside the data; the gateway turns it into headers. */
export interface Answer {
  /** The command answered from its receipt: `Idempotent-Replayed: true`. */
  replayed: boolean;
}

/** Where a request came from. */
export interface Client {
  readonly address: string;
  readonly userAgent: string | null;
}

/** The part of a context that comes from the caller. The gateway makes it once per request, whichever entrance was used. */
export interface RequestContext {
  readonly principal: Principal | null;
  readonly requestId: string;
  readonly idempotency: IdempotencyKey | null;
  /** Null when nobody asks from outside: a job. */
  readonly client: Client | null;
  readonly answer: Answer;
}

/** A job asks as nobody: what it may do was decided when it was enqueued. */
export const internalRequest = (requestId: string): RequestContext => ({ principal: null, requestId, idempotency: null, client: null, answer: { replayed: false } });
