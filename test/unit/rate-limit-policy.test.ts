import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readPolicy } from '../../gateway/rate-limits/policy.ts';
import type { Policy } from '../../gateway/rate-limits/policy.ts';

const folder = mkdtempSync(join(tmpdir(), 'quadrivium-policy-'));
afterAll(() => rmSync(folder, { recursive: true }));

const profile = (rateLimitProfile: 'guide' | 'overview'): Policy => readPolicy({ rateLimitProfile, rateLimitFile: null })!;

function withFile(content: string): Policy {
  const rateLimitFile = join(folder, 'limits.json');
  writeFileSync(rateLimitFile, content);
  return readPolicy({ rateLimitProfile: 'guide', rateLimitFile })!;
}

const minute = (limit: number, burst: number) => ({ limit, burst, windowMs: 60_000 });
const exportRule = { limit: 1, burst: 0, windowMs: 3_600_000 };

it('has the figures of the rate-limit guide', () => {
  const { token, organization, endpoint } = profile('guide');
  expect(token.free).toEqual({ read: minute(600, 150), write: minute(120, 30) });
  expect(token.sovereign).toEqual(token.free);
  expect(Object.fromEntries(Object.entries(organization!).map(([plan, { limit }]) => [plan, limit]))).toMatchObject({ free: 6_000, team: 6_000, business: 30_000, enterprise: 60_000 });
  expect(organization!.business).toEqual(minute(30_000, 7_500));
  expect(endpoint).toEqual({
    '/api/handler/answer': minute(60, 15),
    '/api/orchestrator/orchestrations/{id}/runs': minute(30, 8),
    '/api/exports/full': exportRule,
  });
});

it('has the figures of the overview, with bursts of their own and no limit of organizations', () => {
  const { token, organization, endpoint } = profile('overview');
  expect(token.free).toEqual({ requests: minute(60, 10) });
  for (const plan of ['pro', 'team', 'business'] as const) expect(token[plan]).toEqual({ requests: minute(600, 100) });
  expect(token.enterprise).toEqual({ requests: minute(6_000, 1_000) });
  expect(organization).toBeNull();
  expect(endpoint['/api/exports/full']).toEqual(exportRule);
});

it('is nothing when limits are off', () => {
  expect(readPolicy({ rateLimitProfile: 'off', rateLimitFile: null })).toBeNull();
});

it('takes figures from a file, and all others from the profile', () => {
  const policy = withFile('{"organization": {"sovereign": 90000}, "token": {"free": {"write": {"limit": 7, "burst": 0}}}, "endpoint": {"/api/exports/full": {"limit": 2, "window_seconds": 60}}}');
  expect(policy.organization!.sovereign).toEqual(minute(90_000, 22_500));
  expect(policy.organization!.free).toEqual(minute(6_000, 1_500));
  expect(policy.token.free).toEqual({ read: minute(600, 150), write: minute(7, 0) });
  expect(policy.endpoint['/api/exports/full']).toEqual(minute(2, 1));
});

it('rounds the burst of a quarter up', () => {
  expect(withFile('{"organization": {"free": 1}}').organization!.free).toEqual(minute(1, 1));
  expect(withFile('{"organization": {"free": 5}}').organization!.free).toEqual(minute(5, 2));
});

it.each([
  ['{"token": {"free": {"read": 0}}}', /RATE_LIMIT_FILE: .*limits\.json: token\.free\.read: .*>=1/],
  ['{"organization": {"gold": 5}}', /organization: .*gold/],
  ['{"tokens": {}}', /tokens/],
  ['{"endpoint": {"/api/exports/full": {"limit": 1, "bursts": 2}}}', /endpoint\.\/api\/exports\/full/],
  ['{"organization": ', /RATE_LIMIT_FILE: .*limits\.json: .*JSON/],
])('names the fault of %s', (content, message) => {
  expect(() => withFile(content)).toThrow(message);
});

it('names a file that is not there', () => {
  expect(() => readPolicy({ rateLimitProfile: 'guide', rateLimitFile: '/nowhere/limits.json' })).toThrow(/RATE_LIMIT_FILE: \/nowhere\/limits\.json: ENOENT/);
});
