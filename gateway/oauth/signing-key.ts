import { createPrivateKey, createPublicKey } from 'node:crypto';
import type { JsonWebKey, KeyObject } from 'node:crypto';

/** PKCS #8 of an Ed25519 key without its 32 bytes (RFC 8410, section 7). */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex');

export interface SigningKey {
  /** As oidc-provider takes it. */
  readonly jwk: JsonWebKey;
  readonly publicKey: KeyObject;
}

/** Any 32 bytes are an Ed25519 key, so the secret that all processes of an installation share makes them sign alike. */
export function signingKeyOf(secret: Buffer): SigningKey {
  const key = createPrivateKey({ key: Buffer.concat([pkcs8Head, secret]), format: 'der', type: 'pkcs8' });
  return { jwk: { ...key.export({ format: 'jwk' }), alg: 'EdDSA', use: 'sig' }, publicKey: createPublicKey(key) };
}
