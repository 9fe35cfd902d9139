import { Secret, TOTP } from 'otpauth';
import { expect } from 'vitest';
import { z } from 'zod';
import { as, withKey } from './actors.ts';
import type { HttpClient } from './actors.ts';
import { expectBody } from './shapes.ts';
import type { Target } from './server.ts';
import { uniqueWord } from './words.ts';

/** Somebody made for one test: whatever happens to the account, nobody else uses it. */
export interface TestUser {
  readonly id: string;
  readonly email: string;
  readonly password: string;
  /** Signed in. */
  readonly client: HttpClient;
  readonly token: string;
}

const NewUser = z.looseObject({ id: z.string(), email: z.string(), password: z.string() });
const NewSession = z.looseObject({ token: z.string() });

export interface NewUserOptions {
  readonly organizationRole?: 'architect' | 'sovereign';
  /** A role in the default workspace. */
  readonly role?: 'viewer' | 'editor' | 'admin' | 'owner';
}

export async function newUser(server: Target, { organizationRole, role }: NewUserOptions = {}): Promise<TestUser> {
  const sovereign = as(server, 'sovereign_user');
  const body = { email: `${uniqueWord()}@demo.example`, name: 'Made for a test', ...(organizationRole && { organization_role: organizationRole }) };
  const { id, email, password } = expectBody(await sovereign.post('/v1/users', body), 201, NewUser);
  if (role) expect((await sovereign.put(`/v1/members/${id}`, { role })).status).toBe(200);
  const token = await signIn(server, email, password);
  return { id, email, password, token, client: withKey(server, token) };
}

export async function signIn(server: Pick<Target, 'baseUrl'>, email: string, password: string): Promise<string> {
  return expectBody(await withKey(server, null).post('/auth/sessions', { email, password }), 201, NewSession).token;
}

export interface Enrolled extends TestUser {
  /** Base 32. */
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
}

/** Somebody with an authenticator, whose session its first code has just stepped up. */
export async function steppedUpUser(server: Target, options: NewUserOptions = {}): Promise<Enrolled> {
  const user = await newUser(server, options);
  const { secret, recovery_codes: recoveryCodes } = expectBody(await user.client.post('/auth/totp'), 201, z.looseObject({ secret: z.string(), recovery_codes: z.array(z.string()) }));
  expect((await user.client.post('/auth/totp/confirm', { code: codeOf(secret) })).status).toBe(200);
  return { ...user, secret, recoveryCodes };
}

/** What an authenticator shows, now or so many steps of 30 s away. */
export const codeOf = (secret: string, steps = 0): string => new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 });

/** A code that an authenticator does not show in these minutes. */
export function wrongCode(secret: string): string {
  const right = new Set([-2, -1, 0, 1, 2].map((steps) => codeOf(secret, steps)));
  return ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !right.has(code))!;
}
