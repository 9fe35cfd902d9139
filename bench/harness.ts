import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client as PostgresClient } from 'pg';
import { Pool } from 'undici';
import { usageOf } from './process-usage.ts';
import type { Usage } from './process-usage.ts';

/** A server under measurement, in a process of its own, as an operator runs it. */
export interface Server {
  readonly pid: number;
  readonly url: string;
  /** With a read-write key, and with an admin key. */
  readonly client: HttpClient;
  readonly admin: HttpClient;
  usage(): Usage;
  /** What it has logged so far: warnings, or more with LOG_LEVEL. */
  logged(): string;
  stop(): Promise<void>;
}

/** Where a server keeps its things; both engines alike. */
export interface Ground {
  readonly dataDir: string;
  readonly databaseUrl: string | null;
  remove(): Promise<void>;
}

const readyWithinMs = 60_000;

/**
 * A folder and, where DATABASE_URL names a server, a database; gone after `remove`. A named folder is kept, and its database
 * with it, for a bench that takes long to prepare.
 */
export async function makeGround(keptDir?: string): Promise<Ground> {
  const dataDir = keptDir ?? (await mkdtemp(join(tmpdir(), 'quadrivium-bench-')));
  const server = process.env['DATABASE_URL'];
  const name = keptDir === undefined ? `bench_${randomBytes(6).toString('hex')}` : `bench_${basename(keptDir)}`;
  if (server !== undefined && !(await databaseExists(server, name))) await administer(server, `create database "${name}"`);
  return {
    dataDir,
    databaseUrl: server === undefined ? null : Object.assign(new URL(server), { pathname: `/${name}` }).href,
    remove: async () => {
      if (keptDir !== undefined) return;
      await rm(dataDir, { recursive: true, force: true });
      if (server !== undefined) await administer(server, `drop database if exists "${name}" with (force)`);
    },
  };
}

/** The built product on a free port. */
export function startProduct(ground: Ground, options: { env?: Record<string, string>; nodeArguments?: readonly string[]; connections?: number } = {}): Promise<Server> {
  return start('../gateway/main.js', ground, options);
}

/** The baseline: the same routes and statements without the product. */
export function startBare(ground: Ground, options: { connections?: number } = {}): Promise<Server> {
  return start('./bare-server.js', ground, options);
}

interface StartOptions {
  readonly env?: Record<string, string>;
  readonly nodeArguments?: readonly string[];
  readonly connections?: number;
}

async function start(program: string, ground: Ground, { env = {}, nodeArguments = [], connections = 16 }: StartOptions): Promise<Server> {
  const port = await freePort();
  const child = spawn(process.execPath, [...nodeArguments, fileURLToPath(new URL(program, import.meta.url))], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      // As scripts/bootstrap.mjs does.
      MALLOC_ARENA_MAX: '2',
      MALLOC_MMAP_THRESHOLD_: '1048576',
      NODE_ENV: 'production',
      LOG_LEVEL: 'warn',
      RATE_LIMIT_PROFILE: 'off',
      PORT: `${port}`,
      DATA_DIR: ground.dataDir,
      ...(ground.databaseUrl !== null && { DATABASE_URL: ground.databaseUrl }),
      ...env,
    },
  });
  // Standard output is the log: from `warn` on everything counts. Standard error greets, and is worth reading only after a failure.
  let logged = '';
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (logged += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
  // Whatever ends the bench must not leave a server behind.
  const killAtExit = (): void => {
    child.kill('SIGKILL');
    printWarnings(logged);
  };
  process.once('exit', killAtExit);
  const url = `http://127.0.0.1:${port}`;
  const pool = new Pool(url, { connections, pipelining: 1, headersTimeout: 120_000, bodyTimeout: 120_000 });
  const deadline = performance.now() + readyWithinMs;
  while (!(await isReady(pool))) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${program} exited with ${child.exitCode ?? child.signalCode}.\n${said}${logged}`);
    if (performance.now() > deadline) throw new Error(`${program} was not ready within ${readyWithinMs} ms.`);
    await delay(50);
  }
  const credentials = JSON.parse(await readFile(join(ground.dataDir, 'credentials.json'), 'utf8')) as { api_keys: { read_write: string; admin: string } };
  return {
    pid: child.pid!,
    url,
    client: new HttpClient(pool, credentials.api_keys.read_write),
    admin: new HttpClient(pool, credentials.api_keys.admin),
    usage: () => usageOf(child.pid!),
    logged: () => logged,
    stop: async () => {
      await pool.close();
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
      process.off('exit', killAtExit);
      printWarnings(logged);
    },
  };
}

function printWarnings(logged: string): void {
  const warnings = logged.split('\n').filter((line) => /"level":[4-6]0/.test(line));
  if (warnings.length > 0) console.log(`  ${warnings.length} warnings, the first: ${warnings[0]!.slice(0, 500)}`);
}

async function isReady(pool: Pool): Promise<boolean> {
  try {
    const { statusCode, body } = await pool.request({ method: 'GET', path: '/readyz' });
    await body.dump();
    return statusCode === 200;
  } catch {
    return false;
  }
}

/** Keep-alive connections with one key; anything but 2xx is an error unless asked for with `answer`. */
export class HttpClient {
  readonly #pool: Pool;
  readonly #headers: Record<string, string>;

  constructor(pool: Pool, key: string) {
    this.#pool = pool;
    this.#headers = { authorization: `Bearer ${key}` };
  }

  async answer(method: 'GET' | 'POST' | 'PATCH', path: string, body?: string): Promise<{ status: number; text: string }> {
    const headers = body === undefined ? this.#headers : { ...this.#headers, 'content-type': 'application/json' };
    const response = await this.#pool.request({ method, path, headers, body: body ?? null });
    return { status: response.statusCode, text: await response.body.text() };
  }

  async text(method: 'GET' | 'POST' | 'PATCH', path: string, body?: string): Promise<string> {
    const { status, text } = await this.answer(method, path, body);
    if (status < 200 || status > 299) throw new Error(`${method} ${path.slice(0, 200)} answered ${status}: ${text.slice(0, 300)}`);
    return text;
  }

  async get<T>(path: string): Promise<T> {
    return JSON.parse(await this.text('GET', path)) as T;
  }

  async post<T>(path: string, body: string): Promise<T> {
    return JSON.parse(await this.text('POST', path, body)) as T;
  }
}

export interface Memory {
  readonly content: string;
  readonly metadata: object;
}

export interface BatchAnswer {
  readonly stored: number;
  readonly failed: number;
  readonly results: readonly { id?: string }[];
}

/** Stores them a hundred at a time and answers the ids of what was stored; duplicates of one another are left out. */
export async function storeAll(client: HttpClient, memories: readonly Memory[]): Promise<string[]> {
  const ids: string[] = [];
  for (let first = 0; first < memories.length; first += 100) {
    const { results } = await client.post<BatchAnswer>('/v1/memory/batch', JSON.stringify({ memories: memories.slice(first, first + 100) }));
    for (const { id } of results) if (id !== undefined) ids.push(id);
  }
  return ids;
}

/** Waits until every hundredth of these objects is embedded (jobs take a hundred at once), and the last; says every 10 s how far it is. */
export async function untilEmbedded(client: HttpClient, ids: readonly string[]): Promise<void> {
  const startedAt = performance.now();
  let saidAt = startedAt;
  for (let index = 0; index < ids.length; index = Math.max(index + 1, Math.min(index + 50, ids.length - 1))) {
    while (!(await isEmbedded(client, ids[index]!))) await delay(200);
    if (performance.now() - saidAt < 10_000) continue;
    saidAt = performance.now();
    console.log(`  … ${index} of ${ids.length} embedded, ${Math.round(index / ((saidAt - startedAt) / 1000))}/s`);
  }
}

async function isEmbedded(client: HttpClient, id: string): Promise<boolean> {
  const { processing } = await client.get<{ processing: { embedding_status: string } }>(`/v1/memory/${id}`);
  return processing.embedding_status === 'completed';
}

/** Runs `call` again and again on so many lanes until `isOver`, and answers how long each took in milliseconds. */
export async function onLanes(lanes: number, isOver: () => boolean, call: () => Promise<void>): Promise<number[]> {
  const took: number[] = [];
  const lane = async (): Promise<void> => {
    while (!isOver()) {
      const startedAt = performance.now();
      await call();
      took.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return took;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, 'close');
  return port;
}

async function databaseExists(server: string, name: string): Promise<boolean> {
  return (await administer(server, `select 1 from pg_database where datname = '${name}'`)).length > 0;
}

async function administer(server: string, statement: string): Promise<unknown[]> {
  const client = new PostgresClient({ connectionString: server });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}
