import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What `node --cpu-prof` writes; only what is read here. */
interface Profile {
  /** Microseconds of the machine's monotonic clock, as process.hrtime has it. */
  readonly startTime: number;
  readonly nodes: readonly { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const idle = new Set(['(idle)', '(program)', '(root)']);

/** The moment to count from, so that the start of a process is left out. */
export const profileMoment = (): number => Number(process.hrtime.bigint() / 1000n);

/** Prints, for every thread that left a profile in the folder and was busy, where its own time went: by package or folder, then by function. */
export function printProfiles(folder: string, since: number, functions = 15): void {
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.cpuprofile'))) {
    const profile = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Profile;
    const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
    const byFunction = new Map<string, number>();
    const byPlace = new Map<string, number>();
    let busy = 0;
    let moment = profile.startTime;
    profile.samples.forEach((id, index) => {
      moment += profile.timeDeltas[index]!;
      if (moment < since) return;
      const { functionName, url, lineNumber } = nodes.get(id)!.callFrame;
      if (idle.has(functionName)) return;
      const milliseconds = profile.timeDeltas[index]! / 1000;
      const place = placeOf(url, functionName);
      busy += milliseconds;
      add(byPlace, place, milliseconds);
      add(byFunction, `${functionName || '(anonymous)'} ${url === '' ? '' : `${shortened(url)}:${lineNumber + 1}`}`, milliseconds);
    });
    if (busy < 500) continue;
    console.log(`\n  Thread ${file.split('.').at(-2)}: ${Math.round(busy)} ms busy`);
    print(byPlace, busy, 12);
    console.log('    by function');
    print(byFunction, busy, functions);
  }
}

function placeOf(url: string, functionName: string): string {
  if (url === '') return functionName.startsWith('(') ? functionName : '(native)';
  if (url.startsWith('wasm:')) return 'wasm';
  if (url.startsWith('node:')) return url.split('/')[0]!;
  const [, inPackage] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  return inPackage ?? shortened(url).split('/').slice(0, 2).join('/');
}

const shortened = (url: string): string => url.replace(/^.*\/(dist|node_modules)\//, '');

function add(sums: Map<string, number>, name: string, milliseconds: number): void {
  sums.set(name, (sums.get(name) ?? 0) + milliseconds);
}

function print(sums: ReadonlyMap<string, number>, whole: number, lines: number): void {
  for (const [name, milliseconds] of [...sums].sort(([, a], [, b]) => b - a).slice(0, lines)) {
    console.log(`    ${((100 * milliseconds) / whole).toFixed(1).padStart(5)} %  ${name}`);
  }
}
