import { createHash, randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';

/** RFC 6238 as authenticator apps speak it: SHA-1, 6 digits, 30 seconds. */
const totpOf = (secret: Uint8Array, label?: string): TOTP =>
  new TOTP({ issuer: 'Quadrivium', label: label ?? '', secret: new Secret({ buffer: Uint8Array.from(secret).buffer }), algorithm: 'SHA1', digits: 6, period: 30 });

/** 160 random bits, the length of SHA-1's output, as RFC 4226 asks. */
export const newTotpSecret = (): Buffer => randomBytes(20);

/** As people type it, and as apps scan it. */
export const base32Of = (secret: Uint8Array): string => totpOf(secret).secret.base32;
export const otpauthUri = (secret: Uint8Array, email: string): string => totpOf(secret, email).toString();

/** The 30-second step whose code this is, at most one step off the present; null when it is none. */
export function stepOfCode(secret: Uint8Array, code: string, now: Date): number | null {
  if (!/^\d{6}$/.test(code)) return null;
  const delta = totpOf(secret).validate({ token: code, timestamp: now.getTime(), window: 1 });
  return delta === null ? null : Math.floor(now.getTime() / 30_000) + delta;
}

/** The code of a moment. */
export const codeAt = (secret: Uint8Array, moment: Date): string => totpOf(secret).generate({ timestamp: moment.getTime() });

/** Crockford's alphabet: nothing in it looks like something else. */
const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Ten words of 50 bits, each good for one time without the authenticator. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: 10 }, () => {
    const word = Array.from(randomBytes(10), (byte) => letters[byte % 32]!).join('');
    return `${word.slice(0, 5)}-${word.slice(5)}`;
  });

/** However it was typed. Five tries, then a lock: a plain digest of 50 bits will do. */
export const recoveryDigest = (userId: string, code: string): Buffer =>
  createHash('sha256').update(`${userId}\n${code.toUpperCase().replace(/[^0-9A-Z]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1')}`).digest();
