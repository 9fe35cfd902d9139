import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { auditMigration } from '#platform/audit/migration.ts';
import { readConfig } from '#platform/config.ts';
import type { Context } from '#platform/context.ts';
import type { Database } from '#platform/database/database.ts';
import { migrate } from '#platform/database/migrator.ts';
import { platformMigration } from '#platform/migrations/0001-platform.ts';
import { forgetOauthRecords } from '../../gateway/identity/jobs/forget-oauth-records.ts';
import { identityMigration } from '../../gateway/identity/migrations/0001-identity.ts';
import { oauthMigration } from '../../gateway/identity/migrations/0003-oauth.ts';
import { inCall } from '../../gateway/oauth/current-call.ts';
import { recordsOf } from '../../gateway/oauth/records.ts';
import { userOf } from '../harness/slice.ts';
import { openTestDatabase } from '../platform/open-test-database.ts';

const start = new Date('2026-03-01T12:00:00Z');
let now = start;
let database: Database;
const config = readConfig({ OAUTH_ACCESS_TTL_SECONDS: '900' });

const architect = userOf({ organizationRole: 'architect' });

/** As one request of the library's. */
const call = <T>(run: () => Promise<T>): Promise<T> =>
  inCall({ em: database.orm.em.fork(), principal: architect, requestId: 'req_1', client: null, clock: { now: () => now }, config, logger: pino({ level: 'silent' }) } as unknown as Context, run);
const later = (seconds: number): Date => new Date(start.getTime() + seconds * 1000);
const forget = () => forgetOauthRecords({ em: database.orm.em.fork(), clock: { now: () => now } });

/** What the audit log says of a subject. */
const auditOf = (subject: string) =>
  database.execute('select operation, outcome, actor_kind, user_id, subject_ids from platform.audit_entry where $1 = any(subject_ids) order by id', [subject]);

const grants = recordsOf('Grant');
const codes = recordsOf('AuthorizationCode');
const refreshTokens = recordsOf('RefreshToken');
const clients = recordsOf('Client');

beforeAll(async () => {
  database = await openTestDatabase();
  await migrate(database, [platformMigration, auditMigration, identityMigration, oauthMigration]);
  await database.execute(`insert into identity.organization (id, name, plan, created_at) values ('org_a', 'A', 'free', now())`);
  await database.execute(`insert into identity.user (id, organization_id, email, name, created_at) values ('usr_a', 'org_a', 'a@a.example', 'A', now())`);
});
afterAll(() => database.close());
beforeEach(async () => {
  now = start;
  await database.execute('delete from identity.oauth_record');
});

test('what is kept is found as it was, until its time', async () => {
  const state = 'NUL \0 and half a \ud83d';
  await call(() => recordsOf('Interaction').upsert('abc', { jti: 'abc', params: { state } }, 60));
  expect(await call(() => recordsOf('Interaction').find('abc'))).toEqual({ jti: 'abc', params: { state } });
  now = later(61);
  expect(await call(() => recordsOf('Interaction').find('abc'))).toBeUndefined();
});

test('a registration and its audit entry are one', async () => {
  await call(() => clients.upsert('ocl_2', { client_id: 'ocl_2' }));
  expect(await auditOf('ocl_2')).toEqual([{ operation: 'registerOauthClient', outcome: 'succeeded', actor_kind: 'session', user_id: 'usr_a', subject_ids: ['ocl_2'] }]);
});

test('nothing that opens a door is readable in the database', async () => {
  await call(() => refreshTokens.upsert('the-refresh-token', { jti: 'the-refresh-token', grantId: 'gra_1' }, 60));
  await call(() => clients.upsert('ocl_1', { client_id: 'ocl_1', client_secret: 'the-client-secret' }));
  const [{ all }] = (await database.execute<{ all: string }>('select json_agg(oauth_record)::text as all from identity.oauth_record')) as [{ all: string }];
  expect(all).toContain('ocl_1');
  expect(all).not.toMatch(/the-refresh-token|the-client-secret/);
});

test('a token is used once; the second use ends its grant', async () => {
  await call(() => grants.upsert('gra_1', { jti: 'gra_1', accountId: 'usr_a', clientId: 'ocl_1' }, 60));
  await call(() => refreshTokens.upsert('one', { jti: 'one', grantId: 'gra_1' }, 60));
  const uses = await Promise.allSettled(Array.from({ length: 5 }, () => call(() => refreshTokens.consume('one'))));
  expect(uses.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const use of uses) if (use.status === 'rejected') expect(use.reason).toMatchObject({ error: 'invalid_grant' });
  expect(await call(() => grants.find('gra_1'))).toBeUndefined();
  expect(await call(() => refreshTokens.find('one'))).toMatchObject({ consumed: true });
  expect(await auditOf('gra_1')).toEqual([{ operation: 'reuseOauthToken', outcome: 'permission_denied', actor_kind: 'oauth', user_id: 'usr_a', subject_ids: ['gra_1', 'ocl_1'] }]);
});

test('a grant ends an access token after the last of its tokens, and is then forgotten with them; clients stay', async () => {
  await call(() => clients.upsert('ocl_1', { client_id: 'ocl_1' }));
  await call(() => grants.upsert('gra_1', { jti: 'gra_1' }, 60));
  await call(() => codes.upsert('code', { jti: 'code', grantId: 'gra_1' }, 60));
  now = later(59);
  await call(() => refreshTokens.upsert('one', { jti: 'one', grantId: 'gra_1' }, 1000));
  now = later(59 + 1000 + 899);
  await forget();
  expect(await call(() => grants.find('gra_1'))).toBeDefined();
  now = later(59 + 1000 + 901);
  await forget();
  expect(await database.execute('select model, id from identity.oauth_record')).toEqual([{ model: 'Client', id: 'ocl_1' }]);
});

test('tokens of a grant are revoked by kind', async () => {
  for (const [id, grantId] of [['one', 'gra_1'], ['two', 'gra_1'], ['three', 'gra_2']] as const) await call(() => refreshTokens.upsert(id, { jti: id, grantId }, 60));
  await call(() => refreshTokens.revokeByGrantId('gra_1'));
  expect(await Promise.all(['one', 'two', 'three'].map((id) => call(() => refreshTokens.find(id))))).toEqual([undefined, undefined, { jti: 'three', grantId: 'gra_2' }]);
});
