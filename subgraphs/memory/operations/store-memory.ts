import { groupedCommand } from '#platform/operation.ts';
import { storeInput } from '../content-rules.ts';
import { storeObjects } from './store-objects.ts';

/** Creates one memory object. Concurrent stores share a transaction. */
export const storeMemory = groupedCommand({
  name: 'storeMemory',
  requires: 'vaultWrite',
  input: storeInput,
  keyOf: ({ idempotencyKey }) => idempotencyKey,
  runGroup: storeObjects,
});
