import { readdirSync, readFileSync } from 'node:fs';

/** What a process has used so far, from Linux's /proc (elsewhere the benches do not run). */
export interface Usage {
  readonly cpuSeconds: number;
  readonly rssMegabytes: number;
  /** CPU seconds by thread: its id, its name and its priority. */
  readonly threads: ReadonlyMap<string, number>;
}

/** /proc counts in hundredths of a second. */
const ticksPerSecond = 100;

export function usageOf(pid: number): Usage {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const threads = new Map(readdirSync(`/proc/${pid}/task`).map((id) => threadOf(pid, id)));
  return {
    cpuSeconds: threadOf(pid, `${pid}`, `/proc/${pid}/stat`)[1],
    rssMegabytes: Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024),
    threads,
  };
}

function threadOf(pid: number, id: string, file = `/proc/${pid}/task/${id}/stat`): [string, number] {
  const stat = readFileSync(file, 'utf8');
  // Fields are counted after the name, which may contain spaces: user and system time are 12 and 13, the niceness is 17.
  const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ').map(Number);
  const nice = fields[16]! > 0 ? ` nice ${fields[16]}` : '';
  return [`${name}${nice} #${Number(id) - pid}`, (fields[11]! + fields[12]!) / ticksPerSecond];
}

/** CPU between two moments: of the whole, and of each thread that mattered. */
export function cpuBetween(before: Usage, after: Usage): { seconds: number; byThread: string } {
  const spent = [...after.threads].map(([name, seconds]) => ({ name, seconds: seconds - (before.threads.get(name) ?? 0) }));
  const worthNaming = spent.filter(({ seconds }) => seconds >= 0.1).sort((a, b) => b.seconds - a.seconds);
  return { seconds: after.cpuSeconds - before.cpuSeconds, byThread: worthNaming.map(({ name, seconds }) => `${name} ${seconds.toFixed(1)} s`).join(', ') };
}
