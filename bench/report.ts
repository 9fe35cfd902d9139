import type { Usage } from './process-usage.ts';
import { cpuBetween } from './process-usage.ts';

/** Figures as a bench prints them, then a line PASS or FAIL for each target. */
export class Report {
  readonly #verdicts: { passed: boolean; line: string }[] = [];

  heading(text: string): void {
    console.log(`\n${text}`);
  }

  figure(name: string, value: string): void {
    console.log(`  ${name.padEnd(38)} ${value}`);
  }

  /** What the server used between two moments, and what this process did. */
  usage(before: Usage, after: Usage, ownCpuSeconds: number): void {
    const { seconds, byThread } = cpuBetween(before, after);
    this.figure('server CPU', `${seconds.toFixed(1)} s (${byThread})`);
    this.figure('client CPU', `${ownCpuSeconds.toFixed(1)} s`);
    this.figure('server memory (RSS)', `${before.rssMegabytes} → ${after.rssMegabytes} MB`);
  }

  target(name: string, passed: boolean, measured: string): void {
    this.#verdicts.push({ passed, line: `${passed ? 'PASS' : 'FAIL'}  ${name}: ${measured}` });
  }

  /** The process fails on a missed target only when it was asked to. */
  finish(): void {
    console.log('');
    for (const { line } of this.#verdicts) console.log(line);
    if (process.argv.includes('--assert') && this.#verdicts.some(({ passed }) => !passed)) process.exitCode = 1;
  }
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export const latency = (milliseconds: readonly number[]): string =>
  `p50 ${quantile(milliseconds, 0.5).toFixed(1)} ms, p95 ${quantile(milliseconds, 0.95).toFixed(1)} ms, p99 ${quantile(milliseconds, 0.99).toFixed(1)} ms`;

export const ownCpuSeconds = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};
