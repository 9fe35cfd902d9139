import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * One process per data folder: PGlite itself lets two open one folder, and they destroy it. The lock is a file that names its
 * owner; an owner that died by `kill -9` leaves it behind, so a lock counts only while its owner lives.
 */
export function acquirePidLock(file: string): () => void {
  const own = nameOf(process.pid)!;
  const candidate = `${file}.${process.pid}`;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(candidate, own);
  try {
    // A link, because it appears at once with its content and fails where one stands.
    while (!tryLink(candidate, file)) removeStale(file, `${candidate}.stale`);
  } finally {
    rmSync(candidate);
  }
  return () => rmSync(file, { force: true });
}

/** The rename takes whatever stands there for ourselves alone, so of two processes that found the lock stale one removes it. */
function removeStale(file: string, aside: string): void {
  try {
    renameSync(file, aside);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  const owner = readFileSync(aside, 'utf8');
  const pid = Number.parseInt(owner, 10);
  const alive = nameOf(pid) === owner;
  if (alive) tryLink(aside, file);
  rmSync(aside);
  if (alive) throw new Error(`The database in ${dirname(file)} is in use by process ${pid}. Stop that process, or choose another folder with DATA_DIR.`);
}

/**
 * The PID and, where the system tells it, when that process started: a container often gives the PIDs of the last run to new
 * processes. Field 22 of /proc/PID/stat, counted after the command name, which may contain spaces.
 */
function nameOf(pid: number): string | null {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) !== 'EPERM') return null;
  }
  if (process.platform !== 'linux') return `${pid}`;
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return `${pid} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`;
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
