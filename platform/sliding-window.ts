/** So many requests in any window of this length, and so many more in a burst. */
export interface Rate {
  readonly limit: number;
  readonly burst: number;
  readonly windowMs: number;
}

/** Requests close together: counted as one from the first on, forgotten as one when the last of them is a window old. */
export interface Bucket {
  readonly from: number;
  last: number;
  count: number;
}

/** Oldest first. What it takes does not grow with the limit: at most `bucketsPerWindow` and one. */
export type Log = Bucket[];

/**
 * A log of single requests is exact, but one organization's would hold 75,000 times. Buckets of half a second (of a minute) are
 * never more generous than that log: a request is forgotten up to half a second late and never early. Under steady load that
 * is 0.8 % of the limit; the first request, and any that stands alone, is forgotten to the millisecond.
 */
export const bucketsPerWindow = 120;

/** Forgets what is older than the window and answers how many are left. */
export function countOf(log: Log, { windowMs }: Rate, now: number): number {
  let expired = 0;
  while (expired < log.length && log[expired]!.last + windowMs <= now) expired += 1;
  if (expired > 0) log.splice(0, expired);
  let count = 0;
  for (const bucket of log) count += bucket.count;
  return count;
}

export function add(log: Log, { windowMs }: Rate, now: number, cost: number): void {
  const newest = log.at(-1);
  if (newest === undefined || now - newest.from >= windowMs / bucketsPerWindow) {
    log.push({ from: now, last: now, count: cost });
  } else {
    newest.count += cost;
    newest.last = Math.max(newest.last, now);
  }
}

/** Takes back what was added last. */
export function remove(log: Log, cost: number): void {
  const newest = log.at(-1);
  if (newest === undefined) return;
  newest.count -= cost;
  if (newest.count <= 0) log.pop();
}

export const capacityOf = ({ limit, burst }: Rate): number => limit + burst;

/** How long until there is room for `cost` more; 0: there is. What never fits waits a whole window. */
export function waitMs(log: Log, rate: Rate, now: number, cost: number): number {
  let excess = countOf(log, rate, now) + cost - capacityOf(rate);
  if (excess <= 0) return 0;
  for (const bucket of log) {
    excess -= bucket.count;
    if (excess <= 0) return bucket.last + rate.windowMs - now;
  }
  return rate.windowMs;
}

/** How long until everything is forgotten, if nothing comes. */
export const resetMs = (log: Log, { windowMs }: Rate, now: number): number => (log.length === 0 ? 0 : log.at(-1)!.last + windowMs - now);
