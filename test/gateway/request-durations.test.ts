import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { RequestDurations } from '../../gateway/request-durations.ts';

test('durations are counted in buckets, by route, method and status, as Prometheus reads a histogram', async () => {
  const durations = new RequestDurations();
  const registry = new Registry();
  registry.registerMetric(durations.metric);
  const [first, second] = [{}, {}];
  for (const seconds of [0.001, 0.003, 7]) durations.observe(first, 'GET', '/a', 200, seconds);
  durations.observe(first, 'POST', '/a', 201, 0.2);
  durations.observe(second, 'GET', '/b', 404, 0.02);

  const lines = (await registry.metrics()).split('\n');
  expect(lines).toContain('# TYPE http_request_duration_seconds histogram');
  const buckets = lines.filter((line) => line.startsWith('http_request_duration_seconds_bucket') && line.includes('route="/a",status="200"'));
  expect(buckets.map((line) => Number(line.split(' ')[1]))).toEqual([1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3]);
  expect(buckets.at(-1)).toContain('le="+Inf",method="GET"');
  expect(lines).toContain('http_request_duration_seconds_sum{method="GET",route="/a",status="200"} 7.004');
  expect(lines).toContain('http_request_duration_seconds_count{method="POST",route="/a",status="201"} 1');
  expect(lines).toContain('http_request_duration_seconds_bucket{le="0.025",method="GET",route="/b",status="404"} 1');
});
