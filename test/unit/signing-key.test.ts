import { expect, test } from 'vitest';
import { signingKeyOf } from '../../gateway/oauth/signing-key.ts';

test('32 bytes are the key that RFC 8032, 7.1, says they are', () => {
  const { jwk, publicKey } = signingKeyOf(Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex'));
  const x = Buffer.from('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', 'hex').toString('base64url');
  expect(jwk).toMatchObject({ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', x });
  expect(publicKey.export({ format: 'jwk' })).toEqual({ kty: 'OKP', crv: 'Ed25519', x });
});
