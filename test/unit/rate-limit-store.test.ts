import { expect, it } from 'vitest';
import type { Clock } from '#platform/clock.ts';
import type { Rate } from '#platform/sliding-window.ts';
import { keysMax, MemoryStore } from '../../gateway/rate-limits/memory-store.ts';
import type { Layer, Standing } from '../../gateway/rate-limits/store.ts';

const rate = (limit: number): Rate => ({ limit, burst: 0, windowMs: 60_000 });

const token = (key: string, limit = 3): Layer => ({ scope: 'token', name: 'token-read', key, rate: rate(limit), cost: 1 });
const organization = (limit = 5): Layer => ({ scope: 'org', name: 'org', key: '{org_1}', rate: rate(limit), cost: 1 });

function storeAt(startMs: number): { store: MemoryStore; turn: (ms: number) => void } {
  let nowMs = startMs;
  const clock: Clock = { now: () => new Date(nowMs) };
  return { store: new MemoryStore(clock), turn: (ms) => (nowMs += ms) };
}

const isAllowed = (standings: readonly Standing[]): boolean => standings.every(({ waitMs }) => waitMs === 0);

it('counts a request in all layers, or, when one of them has no room, in none', () => {
  const { store } = storeAt(0);
  for (let sent = 0; sent < 3; sent += 1) expect(isAllowed(store.take([token('a'), organization()]))).toBe(true);
  const refused = store.take([token('a'), organization()]);
  expect(refused.map(({ count }) => count)).toEqual([3, 3]);
  expect(refused.map(({ waitMs }) => waitMs)).toEqual([60_000, 0]);
  // Fifty refusals later the organization has still room for two.
  for (let sent = 0; sent < 50; sent += 1) store.take([token('a'), organization()]);
  expect(isAllowed(store.take([token('b'), organization()]))).toBe(true);
  expect(isAllowed(store.take([token('b'), organization()]))).toBe(true);
  const full = store.take([token('b'), organization()]);
  expect(full.map(({ waitMs }) => waitMs)).toEqual([0, 60_000]);
  expect(full.map(({ count }) => count)).toEqual([2, 5]);
});

it('says to the millisecond when there is room again', () => {
  const { store, turn } = storeAt(1_000_000);
  store.take([token('a')]);
  turn(1_500);
  store.take([token('a')]);
  store.take([token('a')]);
  turn(8_500);
  expect(store.take([token('a')])[0]).toMatchObject({ count: 3, waitMs: 50_000, resetMs: 51_500 });
  turn(49_999);
  expect(isAllowed(store.take([token('a')]))).toBe(false);
  turn(1);
  expect(isAllowed(store.take([token('a')]))).toBe(true);
});

it('gives back what was not used', () => {
  const { store } = storeAt(0);
  for (let sent = 0; sent < 3; sent += 1) store.take([token('a')]);
  store.giveBack([token('a')]);
  expect(isAllowed(store.take([token('a')]))).toBe(true);
  expect(isAllowed(store.take([token('a')]))).toBe(false);
});

it('remembers at most so many keys, though 200,000 come; who changes tokens still meets the limit of the organization', () => {
  const { store, turn } = storeAt(0);
  const held = organization(100_000);
  let allowed = 0;
  for (let index = 0; index < 200_000; index += 1) {
    if (index % 10 === 0) turn(1);
    if (isAllowed(store.take([token(`t${index}`), held]))) allowed += 1;
    store.take([{ ...token(`a${index}`), name: 'address-refused' }]);
  }
  expect(allowed).toBe(100_000);
  expect(store.size).toBeLessThanOrEqual(2 * keysMax + 1);
});

it('does not let a crowd in one layer forget what another layer counts', () => {
  const { store } = storeAt(0);
  const hourly: Layer = { scope: 'endpoint', name: 'endpoint /api/exports/full', key: '{org_1}', rate: { limit: 1, burst: 0, windowMs: 3_600_000 }, cost: 1 };
  expect(isAllowed(store.take([hourly]))).toBe(true);
  for (let index = 0; index < keysMax + 10; index += 1) store.take([{ ...token(`a${index}`), name: 'address-read' }]);
  expect(isAllowed(store.take([hourly]))).toBe(false);
});
