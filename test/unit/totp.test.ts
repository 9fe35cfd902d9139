import { expect, test } from 'vitest';
import { base32Of, codeAt, newRecoveryCodes, newTotpSecret, otpauthUri, recoveryDigest, stepOfCode } from '../../gateway/identity/totp.ts';

const secret = Buffer.from('12345678901234567890');

// RFC 6238, appendix B, SHA-1; six digits are the last six of the eight that stand there.
test.for([
  [59, '94287082'],
  [1111111109, '07081804'],
  [1111111111, '14050471'],
  [1234567890, '89005924'],
  [2000000000, '69279037'],
  [20000000000, '65353130'],
] as const)('RFC 6238: at %d s the code is the end of %s', ([seconds, expected]) => {
  const moment = new Date(seconds * 1000);
  expect(codeAt(secret, moment)).toBe(expected.slice(-6));
  expect(stepOfCode(secret, expected.slice(-6), moment)).toBe(Math.floor(seconds / 30));
});

test('a code counts one step before and after its own, and not two', () => {
  const moment = new Date('2026-03-01T12:00:15Z');
  const step = moment.getTime() / 30_000;
  const away = (steps: number): number | null => stepOfCode(secret, codeAt(secret, new Date(moment.getTime() + steps * 30_000)), moment);
  expect([-2, -1, 0, 1, 2].map(away)).toEqual([null, Math.floor(step) - 1, Math.floor(step), Math.floor(step) + 1, null]);
});

test('what is no six digits is no code', () => {
  for (const code of ['', '12345', '1234567', ' 123456', '１２３４５６', '12345a']) expect(stepOfCode(secret, code, new Date())).toBeNull();
});

test('secrets have 160 bits, and apps read their address', () => {
  const fresh = newTotpSecret();
  expect(fresh).toHaveLength(20);
  const uri = new URL(otpauthUri(secret, 'ada@demo.example'));
  expect([uri.protocol, uri.host]).toEqual(['otpauth:', 'totp']);
  expect(decodeURIComponent(uri.pathname)).toBe('/Quadrivium:ada@demo.example');
  expect(Object.fromEntries(uri.searchParams)).toEqual({ issuer: 'Quadrivium', secret: base32Of(secret), algorithm: 'SHA1', digits: '6', period: '30' });
  expect(base32Of(secret)).toBe('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
});

test('a recovery code is read however it was typed, for its own user', () => {
  const codes = newRecoveryCodes();
  expect(new Set(codes).size).toBe(10);
  const digest = recoveryDigest('usr_a', '01AB2-CD3EF');
  for (const typed of ['01ab2cd3ef', ' O1AB2 CD3EF ', '0lAB2-CD3EF', 'oIab2cd3ef']) expect(recoveryDigest('usr_a', typed)).toEqual(digest);
  expect(recoveryDigest('usr_b', '01AB2-CD3EF')).not.toEqual(digest);
});
