import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

/** Standard Webhooks asks for 24 to 64 random bytes. */
export const newSecret = (): Buffer => randomBytes(32);

/** A secret as its owner gets it. */
export const secretText = (secret: Buffer): string => `whsec_${secret.toString('base64')}`;

/** The headers of one attempt by Standard Webhooks 1.0; during a rotation both secrets sign. */
export function signedHeaders(secrets: readonly Buffer[], messageId: string, at: Date, body: string): Record<string, string> {
  return {
    'webhook-id': messageId,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret, { format: 'raw' }).sign(messageId, at, body)).join(' '),
  };
}
