import { createHash, randomBytes } from 'node:crypto';

/** Kinds of bearer tokens and what they begin with: API keys, sessions, publisher tokens. */
export type TokenPrefix = 'qk' | 'qs' | 'qp';

/** The prefix and 43 url-safe characters: 256 random bits. */
export const newToken = (prefix: TokenPrefix): string => `${prefix}_${randomBytes(32).toString('base64url')}`;

export const isToken = (prefix: TokenPrefix, token: string): boolean => token.startsWith(`${prefix}_`) && /^.{3}[A-Za-z0-9_-]{43}$/.test(token);

/** The database knows tokens only by this; with 256 random bits a plain SHA-256 is as good as a slow hash. */
export const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/** Enough to recognise a key in a list, too little to use it. */
export const prefixOf = (token: string): string => token.slice(0, 9);
