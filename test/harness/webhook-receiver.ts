import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';

const Body = z.strictObject({
  id: z.string().min(1),
  type: z.string().min(1),
  created_at: z.iso.datetime(),
  organization_id: z.string().min(1),
  data: z.record(z.string(), z.unknown()),
});

/** One request as it came in. */
export interface Arrival {
  /** By `performance.now`. */
  readonly atMs: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly body: z.output<typeof Body>;
  /** What it was answered with. */
  readonly status: number;
}

/** What to answer; a promise that never settles keeps the sender waiting. */
export type Rule = (arrival: Omit<Arrival, 'status'>) => number | Promise<number>;

export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly arrivals: readonly Arrival[];
  /** Answers that were accepted, in order. */
  readonly accepted: readonly Arrival[];
  /** By default 204. */
  answerWith(rule: Rule): void;
  /** Throws unless one of the signatures is made with the secret. */
  verify(arrival: Arrival, secret: string): void;
  /** The most arrivals that any second held. */
  busiestSecond(): number;
}

/** A receiver of webhooks on a port of its own. */
export async function startReceiver(): Promise<Receiver> {
  const arrivals: Arrival[] = [];
  let rule: Rule = () => 204;
  const server = createServer((request, response) => {
    const atMs = performance.now();
    void (async () => {
      const raw = await text(request);
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
      const arrival = { atMs, path: request.url ?? '/', headers, text: raw, body: Body.parse(JSON.parse(raw)) };
      const status = await rule(arrival);
      arrivals.push({ ...arrival, status });
      response.writeHead(status, status >= 300 && status < 400 ? { location: '/elsewhere' } : {}).end();
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    arrivals,
    get accepted() {
      return arrivals.filter(({ status }) => status >= 200 && status < 300);
    },
    answerWith: (next) => {
      rule = next;
    },
    verify: ({ text: raw, headers }, secret) => void new Webhook(secret).verify(raw, headers),
    busiestSecond: () => {
      const moments = arrivals.map(({ atMs }) => atMs).sort((a, b) => a - b);
      let first = 0;
      return moments.reduce((most, moment, last) => {
        while (moment - moments[first]! >= 1000) first += 1;
        return Math.max(most, last - first + 1);
      }, 0);
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
