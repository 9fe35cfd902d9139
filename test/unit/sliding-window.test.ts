import fc from 'fast-check';
import { expect, it } from 'vitest';
import { add, capacityOf, countOf, remove, resetMs, waitMs } from '#platform/sliding-window.ts';
import type { Log, Rate } from '#platform/sliding-window.ts';

const rate: Rate = { limit: 4, burst: 1, windowMs: 60_000 };

/** Whether there was room; counts the request if so. */
function take(log: Log, its: Rate, now: number, cost = 1): boolean {
  if (waitMs(log, its, now, cost) > 0) return false;
  add(log, its, now, cost);
  return true;
}

it('allows limit and burst in a window, and one more when the first is a window old, to the millisecond', () => {
  const log: Log = [];
  for (const now of [0, 10_000, 20_000, 30_000, 40_000]) expect(take(log, rate, now)).toBe(true);
  expect(take(log, rate, 50_000)).toBe(false);
  expect(waitMs(log, rate, 50_000, 1)).toBe(10_000);
  expect(take(log, rate, 59_999)).toBe(false);
  expect(take(log, rate, 60_000)).toBe(true);
  expect(take(log, rate, 60_000)).toBe(false);
});

it('says when everything is forgotten', () => {
  const log: Log = [];
  expect(resetMs(log, rate, 0)).toBe(0);
  add(log, rate, 1_000, 1);
  add(log, rate, 5_000, 1);
  expect(resetMs(log, rate, 6_000)).toBe(59_000);
  expect(countOf(log, rate, 65_000)).toBe(0);
});

it('waits for as many places as a request costs; what never fits waits a window', () => {
  const log: Log = [];
  for (const now of [0, 10_000, 20_000, 30_000]) add(log, rate, now, 1);
  expect(waitMs(log, rate, 30_000, 1)).toBe(0);
  expect(waitMs(log, rate, 30_000, 3)).toBe(40_000);
  expect(waitMs(log, rate, 30_000, 6)).toBe(60_000);
});

it('takes back what was not used', () => {
  const log: Log = [];
  add(log, rate, 0, 1);
  add(log, rate, 1, 2);
  remove(log, 2);
  expect(countOf(log, rate, 1)).toBe(1);
  remove(log, 1);
  expect(log).toEqual([]);
});

it('holds a bounded number of buckets, however many come', () => {
  const log: Log = [];
  const wide: Rate = { limit: 1_000_000, burst: 0, windowMs: 60_000 };
  for (let now = 0; now < 600_000; now += 1) add(log, wide, now, 1);
  countOf(log, wide, 600_000);
  expect(log.length).toBeLessThanOrEqual(121);
});

/** Gaps as awkward as they come: a crowd in one millisecond, moments around the window's end. */
const awkward = fc.array(fc.oneof({ weight: 50, arbitrary: fc.nat(40) }, { weight: 5, arbitrary: fc.nat(3_000) }, { weight: 1, arbitrary: fc.constantFrom(59_999, 60_000, 60_001) }), { minLength: 500, maxLength: 5_000, size: 'max' });

/** Random arrivals: requests that know nothing of each other, some milliseconds apart in the mean. */
const traffic = fc.record({ meanMs: fc.integer({ min: 1, max: 2_000 }), seed: fc.integer() }).map(({ meanMs, seed }) => {
  const random = mulberry32(seed);
  return Array.from({ length: 10_000 }, () => Math.round(-meanMs * Math.log(1 - random())));
});

/** https://github.com/cprosche/mulberry32 */
function mulberry32(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let bits = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const rates = fc.integer({ min: 1, max: 400 }).map((limit): Rate => ({ limit, burst: Math.ceil(limit / 4), windowMs: 60_000 }));
// A counterexample of thousands of moments grows no clearer by minutes of shrinking.
const options = { numRuns: 50, endOnFailure: true };

/** When each request comes. */
const momentsOf = (gaps: readonly number[]): number[] => {
  let now = 0;
  return gaps.map((gap) => (now += gap));
};

/** The moments that a log of every single request lets through. */
function allowedByNaiveLog(moments: readonly number[], its: Rate): number[] {
  const allowed: number[] = [];
  let first = 0;
  for (const now of moments) {
    while (first < allowed.length && allowed[first]! + its.windowMs <= now) first += 1;
    if (allowed.length - first < capacityOf(its)) allowed.push(now);
  }
  return allowed;
}

it('never allows more in any window than a log of every request', () => {
  fc.assert(
    fc.property(rates, awkward, (its, gaps) => {
      const log: Log = [];
      const allowed = momentsOf(gaps).filter((now) => take(log, its, now));
      expect(allowedByNaiveLog(allowed, its)).toEqual(allowed);
    }),
    options,
  );
});

it('counts what a log of every request counts, and at most 5 % more', () => {
  fc.assert(
    fc.property(traffic, (gaps) => {
      const log: Log = [];
      const moments = momentsOf(gaps);
      let first = 0;
      for (const [index, now] of moments.entries()) {
        while (moments[first]! + rate.windowMs <= now) first += 1;
        add(log, rate, now, 1);
        const exact = index + 1 - first;
        const count = countOf(log, rate, now);
        // Below 200 a bucket that chance made full is more than 5 %.
        if (count < exact || count > Math.max(exact + 10, 1.05 * exact)) expect.fail(`${count} for ${exact}`);
      }
    }),
    options,
  );
});

it('lets who asks for more come through as often as a log of every request, at most 5 % later', () => {
  fc.assert(
    fc.property(rates, traffic, (its, gaps) => {
      const log: Log = [];
      const moments = momentsOf(gaps);
      const allowed = moments.filter((now) => take(log, its, now));
      const exact = allowedByNaiveLog(moments, its);
      const pause = Math.max(...gaps);
      expect(allowed.filter((moment, index) => moment > 1.05 * exact[index]! + pause)).toEqual([]);
    }),
    options,
  );
});
