import type { Rate } from '#platform/sliding-window.ts';

/** One thing that a request counts for. */
export interface Layer {
  /** What the contract calls it. An address stands in for the token that the client has not got. */
  readonly scope: 'token' | 'org' | 'endpoint';
  /** In RateLimit-Policy: `token-read`. */
  readonly name: string;
  /** Whose requests count together. What is in braces is the same in all layers of a request, so that they lie together in a Redis cluster. */
  readonly key: string;
  readonly rate: Rate;
  readonly cost: number;
}

/** How a layer stands after the request; if it was refused, without it. */
export interface Standing {
  readonly layer: Layer;
  readonly count: number;
  /** Until there is room for this request; 0: there was. */
  readonly waitMs: number;
  /** Until nothing is counted any more, if nothing comes. */
  readonly resetMs: number;
}

/** Where counts are kept. */
export interface LimitStore {
  /** Counts the request in all layers, or, if one of them has no room, in none. */
  take(layers: readonly Layer[]): readonly Standing[] | Promise<readonly Standing[]>;
  /** What was taken was not used after all. */
  giveBack(layers: readonly Layer[]): void | Promise<void>;
  close(): Promise<void>;
}
