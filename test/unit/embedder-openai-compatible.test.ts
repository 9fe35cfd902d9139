// A contract test: a small server on this machine stands in for the real endpoints and answers as their documentation says.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createEmbedder } from '../../subgraphs/memory/ports/embedder/create-embedder.ts';
import type { Embedder } from '../../subgraphs/memory/ports/embedder.ts';

interface Received {
  url: string | undefined;
  authorization: string | undefined;
  body: { model: string; input: string[] };
}

const leftovers: (() => unknown)[] = [];
afterEach(() => Promise.all(leftovers.splice(0).map((release) => release())));

/** Answers the given statuses first, then vectors `[length of the text, 1]`, last text first. */
async function endpoint({ statuses = [], silent = false }: { statuses?: number[]; silent?: boolean } = {}) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = await request.toArray();
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Received['body'];
    received.push({ url: request.url, authorization: request.headers.authorization, body });
    if (silent) return;
    response.writeHead(statuses.shift() ?? 200, { 'content-type': 'application/json' });
    const data = body.input.map((text, index) => ({ object: 'embedding', index, embedding: [text.length, 1] }));
    response.end(JSON.stringify({ object: 'list', model: body.model, data: data.toReversed() }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  leftovers.push(() => server.closeAllConnections(), () => server.close());
  return { received, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

function embedderOf(options: { baseUrl: string; dimensions?: number; timeoutMs?: number }): Embedder {
  const embedder = createEmbedder({ provider: 'openai', model: 'some-model', apiKey: 'secret', retryDelayMs: 1, ...options });
  leftovers.push(() => embedder.close());
  return embedder;
}

const direction = (length: number): number[] => [length, 1].map((value) => Math.fround(value / Math.hypot(length, 1)));

describe('an OpenAI-compatible endpoint', () => {
  it('is asked with model, input and key, and tells the dimensions', async () => {
    const { received, baseUrl } = await endpoint();
    const embedder = embedderOf({ baseUrl });
    expect(() => embedder.dimensions).toThrow('unknown');
    expect([...(await embedder.embedQuery('four'))]).toEqual(direction(4));
    expect(embedder.dimensions).toBe(2);
    expect(received).toEqual([
      { url: '/v1/embeddings', authorization: 'Bearer secret', body: { model: 'some-model', input: ['four'] } },
    ]);
  });

  it('gets passages in batches, and each content its own back', async () => {
    const { received, baseUrl } = await endpoint();
    const long = 'The harbour was closed for the whole winter. '.repeat(2_000);
    const [one, blank, many, last] = await embedderOf({ baseUrl }).embedContents(['one', ' ', long, 'the end']);

    expect(one!.map(({ start, end, vector }) => ({ start, end, vector: [...vector] }))).toEqual([
      { start: 0, end: 3, vector: direction(3) },
    ]);
    expect(blank).toEqual([]);
    expect([...last![0]!.vector]).toEqual(direction(7));
    expect(many!.at(-1)!.end).toBe(long.trimEnd().length);
    for (const { start, end, vector } of many!) expect([...vector]).toEqual(direction(end - start));

    expect(received.length).toBeGreaterThan(1);
    for (const { body } of received) expect(body.input.length).toBeLessThanOrEqual(64);
  });

  it('is asked again when busy or broken', async () => {
    const { received, baseUrl } = await endpoint({ statuses: [429, 503, 500] });
    const [passages] = await embedderOf({ baseUrl }).embedContents(['four']);
    expect([...passages![0]!.vector]).toEqual(direction(4));
    expect(received).toHaveLength(4);
  });

  it('is given up after a few attempts, sooner for a query', async () => {
    const { received, baseUrl } = await endpoint({ statuses: new Array<number>(20).fill(503) });
    const embedder = embedderOf({ baseUrl });
    await expect(embedder.embedQuery('four')).rejects.toThrow('503');
    expect(received).toHaveLength(2);
    await expect(embedder.embedContents(['four'])).rejects.toThrow('503');
    expect(received).toHaveLength(8);
  });

  it('is not asked again what it refused', async () => {
    const { received, baseUrl } = await endpoint({ statuses: [401] });
    await expect(embedderOf({ baseUrl }).embedContents(['four'])).rejects.toThrow('401');
    expect(received).toHaveLength(1);
  });

  it('must answer in time, and with the dimensions that were promised', async () => {
    const slow = await endpoint({ silent: true });
    await expect(embedderOf({ baseUrl: slow.baseUrl, timeoutMs: 50 }).embedQuery('four')).rejects.toThrow('no embeddings');
    expect(slow.received).toHaveLength(2);
    const { baseUrl } = await endpoint();
    await expect(embedderOf({ baseUrl, dimensions: 3 }).embedQuery('four')).rejects.toThrow('3 dimensions');
  });

  it('is left alone once the embedder is closed', async () => {
    const { received, baseUrl } = await endpoint({ silent: true });
    const embedder = embedderOf({ baseUrl });
    const underWay = expect(embedder.embedContents(['four'])).rejects.toThrow('closed');
    await expect.poll(() => received).toHaveLength(1);
    await embedder.close();
    await underWay;
    expect(received).toHaveLength(1);
  });
});
