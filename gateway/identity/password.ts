import { argon2, randomBytes } from 'node:crypto';
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

/** 120 random bits in 20 characters. */
export const newPassword = (): string => randomBytes(15).toString('base64url');
