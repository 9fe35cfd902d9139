import { inject } from 'vitest';
import type { Target } from './server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    readonly sharedServer: Target;
  }
}

/** The server that the whole run shares: never assume that a workspace of it is empty. */
export const sharedServer = (): Target => inject('sharedServer');
