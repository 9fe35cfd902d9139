import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { eventually } from './eventually.ts';
import { freePort } from './server.ts';

export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;

export interface RedisServer extends AsyncDisposable {
  readonly url: string;
  stop(): Promise<void>;
}

/** A real Redis that keeps nothing; only where `hasRedis`. */
export async function startRedis(given?: number): Promise<RedisServer> {
  const port = given ?? (await freePort());
  const child = spawn('redis-server', ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], { stdio: 'ignore' });
  const client = new Redis(port, '127.0.0.1', { retryStrategy: () => 20 });
  client.on('error', () => {});
  await eventually(() => client.ping());
  client.disconnect();
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill();
    await exited;
  };
  return { url: `redis://127.0.0.1:${port}`, stop, [Symbol.asyncDispose]: stop };
}
