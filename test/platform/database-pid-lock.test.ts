import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { openDatabase } from '#platform/database/database.ts';
import { acquirePidLock } from '../../platform/database/embedded/pid-lock.ts';

const folder = mkdtempSync(join(tmpdir(), 'quadrivium-'));
const lock = join(folder, 'deep', 'database.lock');
const holder = `import { acquirePidLock } from ${JSON.stringify(join(import.meta.dirname, '../../platform/database/embedded/pid-lock.ts'))};
                acquirePidLock(${JSON.stringify(lock)}); console.log('held'); setInterval(() => {}, 1000);`;

beforeEach(() => rmSync(join(folder, 'deep'), { recursive: true, force: true }));
afterAll(() => rmSync(folder, { recursive: true }));

test('a folder is given to one holder at a time, and is free again after it', () => {
  const unlock = acquirePidLock(lock);
  expect(() => acquirePidLock(lock)).toThrow(`in use by process ${process.pid}`);
  expect(() => acquirePidLock(lock)).toThrow('DATA_DIR');
  unlock();
  expect(readdirSync(join(folder, 'deep'))).toEqual([]);
  acquirePidLock(lock)();
});

test('the lock of a living process stands, and the lock of a killed one is taken over', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', holder], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  expect(() => acquirePidLock(lock)).toThrow(`in use by process ${child.pid}`);
  const died = once(child, 'exit');
  child.kill('SIGKILL');
  await died;
  expect(existsSync(lock)).toBe(true);
  acquirePidLock(lock)();
});

test('a database that cannot be opened says so and leaves the folder free', async () => {
  mkdirSync(join(folder, 'deep'));
  writeFileSync(join(folder, 'deep', 'database'), 'not a folder');
  const options = { url: null, dataDir: join(folder, 'deep'), entities: [], poolMax: 1, logger: pino({ level: 'silent' }) };
  await expect(openDatabase(options)).rejects.toThrow();
  await vi.waitFor(() => expect(readdirSync(join(folder, 'deep'))).toEqual(['database']));
});

test.runIf(process.platform === 'linux')('a PID that was given to another process since does not count', () => {
  acquirePidLock(lock)();
  writeFileSync(lock, `${process.pid} 1`);
  acquirePidLock(lock)();
});
