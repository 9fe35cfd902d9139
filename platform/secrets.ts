import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Database } from './database/database.ts';

/** Keys of this installation. They live in the database, so that every process of it has the same ones. */
export interface Secrets {
  readonly cursor: Buffer;
  readonly download: Buffer;
  /** Signs OAuth access tokens. */
  readonly oauth: Buffer;
}

export async function loadSecrets(database: Database): Promise<Secrets> {
  return { cursor: await loadSecret(database, 'cursor'), download: await loadSecret(database, 'download'), oauth: await loadSecret(database, 'oauth') };
}

async function loadSecret(database: Database, name: keyof Secrets): Promise<Buffer> {
  await database.execute('insert into platform.secret (name, value) values ($1, $2) on conflict do nothing', [name, randomBytes(32)]);
  const [row] = await database.execute<{ value: Buffer }>('select value from platform.secret where name = $1', [name]);
  return row!.value;
}

/** AES-256-GCM under a key derived from what only the caller knows: whoever has the database alone reads nothing. */
export function seal(plain: string, knownToCaller: string, salt: string): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', derive(knownToCaller, salt), nonce);
  return Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

export function unseal(sealed: Buffer, knownToCaller: string, salt: string): string {
  const decipher = createDecipheriv('aes-256-gcm', derive(knownToCaller, salt), sealed.subarray(0, 12));
  decipher.setAuthTag(sealed.subarray(-16));
  return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]).toString('utf8');
}

const derive = (knownToCaller: string, salt: string): Uint8Array => new Uint8Array(hkdfSync('sha256', knownToCaller, salt, 'quadrivium receipt', 32));
