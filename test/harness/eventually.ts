import { vi } from 'vitest';
import type { HttpClient } from './actors.ts';
import { expectBody, MemoryObject } from './shapes.ts';

/**
 * Repeats an assertion until it passes; at the deadline its last failure is the test's. By default the deadline only ends what
 * hangs: a promise about time names its own.
 */
export function eventually<T>(assertion: () => Promise<T>, timeoutMs = 60_000): Promise<T> {
  return vi.waitFor(assertion, { timeout: timeoutMs, interval: 50 });
}

/** The interface gives the embedding of a large document 30 seconds; the rest is for a busy machine. */
const processedWithinMs = 300_000;

export function whenProcessed(client: HttpClient, id: string, timeoutMs = processedWithinMs): Promise<MemoryObject> {
  return eventually(async () => {
    const object = expectBody(await client.get(`/v1/memory/${id}`), 200, MemoryObject);
    if (object.processing.embedding_status !== 'completed' || object.processing.entity_extraction_status !== 'completed') {
      throw new Error(`${id} is not processed yet: ${JSON.stringify(object.processing)}`);
    }
    return object;
  }, timeoutMs);
}
