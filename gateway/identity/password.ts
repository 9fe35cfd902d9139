import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/** OWASP's second choice for argon2id: 19 MiB, two passes, one lane. */
const parameters = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };

const derive = promisify(argon2);

/** argon2id in the PHC string format, which any argon2 library can verify. */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const tag = await derive('argon2id', { message: password, nonce, ...parameters });
  const base64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
  return `$argon2id$v=19$m=${parameters.memory},t=${parameters.passes},p=${parameters.parallelism}$${base64(nonce)}$${base64(tag)}`;
}

const nobodysHash = `$argon2id$v=19$m=${parameters.memory},t=${parameters.passes},p=${parameters.parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** Whether this is the password behind the hash; it takes as long when there is none (no such account). */
export async function isPassword(password: string, hash: string | null): Promise<boolean> {
  const [, memory, passes, parallelism, nonce, tag] = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/.exec(hash ?? nobodysHash)!;
  const expected = Buffer.from(tag!, 'base64');
  const given = await derive('argon2id', {
    message: password, nonce: Buffer.from(nonce!, 'base64'),
    memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism), tagLength: expected.length,
  });
  return timingSafeEqual(given, expected) && hash !== null;
}

/** 120 random bits in 20 characters. */
export const newPassword = (): string => randomBytes(15).toString('base64url');
