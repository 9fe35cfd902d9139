import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { inject } from 'vitest';
import type { Credentials } from './credentials.ts';
import { rawRequest } from './raw-request.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** As a first start left it. */
    readonly startedDataDir: string;
  }
}

/** Where requests go and with which keys; all that most tests need. */
export interface Target {
  readonly baseUrl: string;
  readonly credentials: Credentials;
}

export interface Server extends Target, AsyncDisposable {
  readonly dataDir: string;
  /** Of TEST_DATABASE_URL's server, for a second gateway beside this one; null: the embedded database. */
  readonly databaseUrl: string | null;
  /** What the processes have printed, newest 100,000 characters. */
  output(): string;
  /** As an operator stops it; afterwards folder and database are gone. */
  stop(): Promise<void>;
  /** SIGKILL to every process; restart() brings the same data back. */
  kill(): Promise<void>;
  /** SIGKILL to one process of a split installation, by the name of its slice, `worker` or `gateway`. */
  killPiece(name: string): Promise<void>;
  restart(): Promise<void>;
}

export interface ServerOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly dataDir?: string;
  /** With nothing there, as a newcomer finds it; by default the embedded database is the copy of one that was started before. */
  readonly isFirstStart?: boolean;
  readonly port?: number;
  /** `https` when the options of env switch TLS on. */
  readonly scheme?: 'http' | 'https';
}

export const repositoryRoot = fileURLToPath(new URL('../..', import.meta.url));
export const isSplit = process.env['TEST_SPLIT'] === '1';
export const adminDatabaseUrl = process.env['TEST_DATABASE_URL'];

const node = join(repositoryRoot, 'node_modules/.bin/node');
const slices = ['memory', 'marketplace', 'learning', 'growth'];
const readyWithinMs = 180_000;
const stopWithinMs = 60_000;
const outputCharactersMax = 100_000;

interface Piece {
  readonly name: string;
  readonly process: ChildProcess;
  readonly readyUrl: string | null;
}

/** Starts the built product as an operator would, on a free port, with a folder and database of its own. */
export async function startServer(options: ServerOptions = {}): Promise<Server> {
  const dataDir = options.dataDir ?? (await newDataDir(options.isFirstStart ?? adminDatabaseUrl !== undefined));
  const port = options.port ?? (await freePort());
  const baseUrl = `${options.scheme ?? 'http'}://127.0.0.1:${port}`;
  const database = adminDatabaseUrl === undefined ? null : await createDatabase(adminDatabaseUrl);
  const plan = await planPieces(port, baseUrl);
  const env = {
    ...pick(process.env, ['PATH', 'HOME', 'TMPDIR', 'LANG', 'NODE_COMPILE_CACHE']),
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    DATA_DIR: dataDir,
    RATE_LIMIT_PROFILE: 'off',
    // A worker listens nowhere, so it must be told that this is no server on the internet.
    ...(isSplit && { WEBHOOK_ALLOW_PRIVATE: 'true' }),
    ...(database === null ? {} : { DATABASE_URL: database.url }),
    ...options.env,
  };
  let printed = '';
  let pieces: Piece[] = [];
  let credentials: Credentials | null = null;

  const start = async (): Promise<void> => {
    pieces = plan.map(({ name, argv, env: own, readyUrl }) => {
      const child = spawn(node, argv, { cwd: repositoryRoot, env: { ...env, ...own }, stdio: ['ignore', 'pipe', 'pipe'] });
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (chunk: string) => (printed = (printed + chunk).slice(-outputCharactersMax)));
      }
      return { name, process: child, readyUrl };
    });
    try {
      await untilReady(pieces, () => printed);
    } catch (error) {
      await signalAll(pieces, 'SIGKILL');
      throw error;
    }
    credentials = await readCredentials(dataDir);
  };

  const cleanUp = async (): Promise<void> => {
    await database?.drop();
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
  };

  const terminate = async (): Promise<void> => {
    const stopped = signalAll(pieces, 'SIGTERM');
    const inTime = await Promise.race([stopped.then(() => true), delay(stopWithinMs, false, { ref: false })]);
    if (inTime) return;
    await signalAll(pieces, 'SIGKILL');
    throw new Error(`The server did not stop within ${stopWithinMs} ms of SIGTERM.\n${printed}`);
  };

  try {
    await start();
  } catch (error) {
    await cleanUp();
    throw error;
  }

  const server: Server = {
    baseUrl,
    dataDir,
    databaseUrl: database?.url ?? null,
    get credentials() {
      if (credentials === null) throw new Error('The server wrote no credentials.json.');
      return credentials;
    },
    output: () => printed,
    stop: async () => {
      try {
        await terminate();
      } finally {
        await cleanUp();
      }
    },
    kill: () => signalAll(pieces, 'SIGKILL'),
    killPiece: (name) => signalAll(pieces.filter((piece) => piece.name === name), 'SIGKILL'),
    restart: async () => {
      await terminate();
      await start();
    },
    [Symbol.asyncDispose]: () => server.stop(),
  };
  return server;
}

async function newDataDir(isEmpty: boolean): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'quadrivium-'));
  if (!isEmpty) await cp(inject('startedDataDir'), dataDir, { recursive: true });
  return dataDir;
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('No port to be had.');
  return address.port;
}

interface PlannedPiece {
  readonly name: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly readyUrl: string | null;
}

async function planPieces(port: number, baseUrl: string): Promise<PlannedPiece[]> {
  if (!isSplit) return [{ name: 'gateway', argv: ['dist/gateway/main.js'], env: { PORT: `${port}` }, readyUrl: `${baseUrl}/readyz` }];
  if (adminDatabaseUrl === undefined) throw new Error('TEST_SPLIT=1 needs TEST_DATABASE_URL: the pieces share a database.');
  const secret = { INTERNAL_SECRET: randomBytes(32).toString('hex') };
  const ports = await Promise.all(slices.map(async (slice) => [slice, await freePort()] as const));
  const addresses = ports.map(([slice, slicePort]) => `${slice}=http://127.0.0.1:${slicePort}/graphql`).join(',');
  return [
    ...ports.map(([slice, slicePort]) => ({
      name: slice,
      argv: ['dist/subgraphs/main.js', '--serve', slice],
      env: { ...secret, PORT: `${slicePort}` },
      readyUrl: `http://127.0.0.1:${slicePort}/readyz`,
    })),
    { name: 'worker', argv: ['dist/subgraphs/main.js', '--work'], env: secret, readyUrl: null },
    {
      name: 'gateway',
      argv: ['dist/gateway/main.js', '--remote'],
      env: { ...secret, PORT: `${port}`, SUBGRAPH_URLS: addresses },
      readyUrl: `${baseUrl}/readyz`,
    },
  ];
}

async function untilReady(pieces: readonly Piece[], output: () => string): Promise<void> {
  const deadline = performance.now() + readyWithinMs;
  for (const { name, readyUrl } of pieces) {
    while (readyUrl !== null && !(await isReady(readyUrl))) {
      const gone = pieces.find((piece) => hasExited(piece.process));
      if (gone !== undefined) throw new Error(`${gone.name} exited with ${gone.process.exitCode ?? gone.process.signalCode}.\n${output()}`);
      if (performance.now() > deadline) throw new Error(`${name} was not ready within ${readyWithinMs} ms.\n${output()}`);
      await delay(50);
    }
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    // Behind TRUST_PROXY a request that came by plain HTTP is redirected; this one says that it did not.
    return (await rawRequest(url, { 'x-forwarded-proto': 'https' })).status === 200;
  } catch {
    return false;
  }
}

const hasExited = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

async function signalAll(pieces: readonly Piece[], signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  await Promise.all(
    pieces.map(async ({ process: child }) => {
      if (hasExited(child)) return;
      const exited = once(child, 'exit');
      child.kill(signal);
      await exited;
    }),
  );
}

async function readCredentials(dataDir: string): Promise<Credentials | null> {
  try {
    return JSON.parse(await readFile(join(dataDir, 'credentials.json'), 'utf8')) as Credentials;
  } catch {
    return null;
  }
}

async function createDatabase(adminUrl: string): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `contract_${randomBytes(6).toString('hex')}`;
  await administrate(adminUrl, `create database ${name}`);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => administrate(adminUrl, `drop database if exists ${name} with (force)`) };
}

async function administrate(adminUrl: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function pick(env: NodeJS.ProcessEnv, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
