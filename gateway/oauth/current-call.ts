import { AsyncLocalStorage } from 'node:async_hooks';
import type { Context } from '#platform/context.ts';

const calls = new AsyncLocalStorage<Context>();

/** oidc-provider hands its request to some of its callbacks only, and to its storage never: so the context goes beside it. */
export const inCall = <T>(ctx: Context, run: () => T): T => calls.run(ctx, run);

export function currentCall(): Context {
  const ctx = calls.getStore();
  if (ctx === undefined) throw new Error('oidc-provider was called outside of a request.');
  return ctx;
}
