import { createHash, randomBytes } from 'node:crypto';

/** `qk_` and 43 url-safe characters: 256 random bits. */
export const newApiKeyToken = (): string => `qk_${randomBytes(32).toString('base64url')}`;

export const isApiKeyToken = (token: string): boolean => /^qk_[A-Za-z0-9_-]{43}$/.test(token);

/** The database knows keys only by this; with 256 random bits a plain SHA-256 is as good as a slow hash. */
export const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/** Enough to recognise a key in a list, too little to use it. */
export const prefixOf = (token: string): string => token.slice(0, 9);
