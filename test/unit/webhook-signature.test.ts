import { Webhook } from 'standardwebhooks';
import { expect, it } from 'vitest';
import { newSecret, secretText, signedHeaders } from '#platform/webhooks/signature.ts';

const secretOf = (text: string): Buffer => Buffer.from(text.slice('whsec_'.length), 'base64');

it.each([
  // https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
  ['whsec_plJ3nmyCDGBKInavdOK15jsl', 'msg_loFOjxBNrRLzqYUf', 1731705121, '{"event_type":"ping","data":{"success":true}}', 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0='],
  // The tests of the reference libraries.
  ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1614265330, '{"test": 2432232314}', 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='],
])('signs as the published vector of %s', (secret, id, seconds, body, signature) => {
  expect(signedHeaders([secretOf(secret)], id, new Date(seconds * 1000 + 999), body)).toEqual({ 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': signature });
});

it('makes secrets that any Standard Webhooks library takes, and signs with all that count', () => {
  const [secret, old] = [newSecret(), newSecret()];
  const headers = signedHeaders([secret, old], 'evt_1', new Date(), '{"a":1}');
  for (const one of [secret, old]) expect(new Webhook(secretText(one)).verify('{"a":1}', headers)).toEqual({ a: 1 });
  expect(() => new Webhook(secretText(newSecret())).verify('{"a":1}', headers)).toThrow();
  expect(secret).toHaveLength(32);
});
