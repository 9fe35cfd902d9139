import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Pace } from '#platform/webhooks/pace.ts';

const never = new AbortController().signal;

/** Runs requests of these lengths as a lane does, at most `underWay` at once; answers when the receiver saw each. */
async function arrivals(pace: Pace, lengths: readonly number[], underWay: number): Promise<number[]> {
  const seen: number[] = [];
  const running = new Set<Promise<void>>();
  for (const ms of lengths) {
    if (running.size === underWay) await Promise.race(running);
    await pace.begin(never);
    const request = (async () => {
      // The receiver sees it at any moment while it is under way.
      const before = ms * Math.random();
      await delay(before);
      seen.push(performance.now());
      await delay(ms - before);
      pace.end();
    })().finally(() => running.delete(request));
    running.add(request);
  }
  await Promise.all(running);
  return seen.sort((a, b) => a - b);
}

it('lets no second hold more than so many, as the receiver sees them, whatever requests take', async () => {
  const perSecond = 30;
  const seen = await arrivals(new Pace(perSecond), Array.from({ length: 90 }, () => (Math.random() < 0.2 ? 400 : 5)), 20);
  expect(seen).toHaveLength(90);
  for (let index = perSecond; index < seen.length; index += 1) expect(seen[index]! - seen[index - perSecond]!).toBeGreaterThanOrEqual(1000);
});

it('spreads them evenly: no burst at the start', async () => {
  const seen = await arrivals(new Pace(50), Array<number>(25).fill(1), 20);
  expect(seen.at(-1)! - seen[0]!).toBeGreaterThan(400);
});
