import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { z } from 'zod';
import { as } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually } from '../harness/eventually.ts';
import { store, storeAll } from '../harness/memory.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { expectBody, expectError, IsoUtc } from '../harness/shapes.ts';
import { newUser, steppedUpUser, wrongCode } from '../harness/users.ts';
import { uniqueWord } from '../harness/words.ts';

const server = sharedServer();
const admin = as(server, 'admin');
const writer = as(server, 'read_write');

const Entry = z.strictObject({
  id: z.string(), created_at: IsoUtc, actor_kind: z.string(), credential_id: z.string().nullable(), user_id: z.string().nullable(), operation: z.string(),
  subject_ids: z.array(z.string()), outcome: z.string(), request_id: z.string(), address: z.string().nullable(), user_agent: z.string().nullable(),
  sequence: z.int().min(1).nullable(), hash: z.string().regex(/^[0-9a-f]{64}$/).nullable(),
});
const EntryPage = z.strictObject({ data: z.array(Entry), next_cursor: z.string().nullable(), prev_cursor: z.string().nullable(), has_more: z.boolean(), approximate_total: z.int() });
const Verdict = z.strictObject({ valid: z.boolean(), entries_sealed: z.int(), entries_unsealed: z.int(), head_sequence: z.int(), head_hash: z.string(), first_invalid: z.int().nullable() });

const entries = async (filter: Record<string, string>, client = admin) => expectBody(await client.get(`/v1/audit-log?${new URLSearchParams({ limit: '100', ...filter })}`), 200, EntryPage).data;

clause('AUDIT-001', 'decisions §3: a command leaves who, what, when, from where and outcome', async () => {
  const { id } = await store(writer, { content: `Audited ${uniqueWord()}` });
  const requestId = uniqueWord();
  await writer.delete(`/v1/memory/${id}`, { 'x-request-id': requestId, 'user-agent': 'an agent' });
  const [deleted, stored] = await entries({ subject_id: id });
  expect(stored).toMatchObject({ operation: 'storeMemory', outcome: 'succeeded', actor_kind: 'api_key', user_id: null, subject_ids: [id] });
  expect(deleted).toMatchObject({ operation: 'deleteMemory', outcome: 'succeeded', request_id: requestId, address: '127.0.0.1', user_agent: 'an agent' });
  expect(deleted!.credential_id).toMatch(/^key_/);
  expect(Date.now() - new Date(deleted!.created_at).getTime()).toBeLessThan(60_000);
});

clause('AUDIT-002', 'decisions §3: a batch is one entry that names all it stored', async () => {
  const ids = await storeAll(writer, Array.from({ length: 30 }, () => ({ content: `Batched ${uniqueWord()}` })));
  const found = await entries({ subject_id: ids[17]! });
  expect(found).toHaveLength(1);
  expect(found[0]).toMatchObject({ operation: 'batchStoreMemory', subject_ids: ids });
});

clause('AUDIT-003', 'decisions §3: what was refused is there with the code; bad input is not, and reading is not', async () => {
  const { id } = await store(writer, { content: `Guarded ${uniqueWord()}` });
  expectError(await as(server, 'read_only').delete(`/v1/memory/${id}`), 403, 'permission_denied');
  const missing = `mem_${uniqueWord()}`;
  expectError(await writer.delete(`/v1/memory/${missing}`), 404, 'not_found');
  expect((await writer.patch(`/v1/memory/${id}`, { wrong: 1 })).status).toBe(400);
  expect((await writer.get(`/v1/memory/${id}`)).status).toBe(200);
  expect((await entries({ subject_id: missing })).map(({ operation, outcome }) => [operation, outcome])).toEqual([['deleteMemory', 'not_found']]);
  expect((await entries({ subject_id: id })).map(({ operation }) => operation)).toEqual(['storeMemory']);
  const denied = await entries({ outcome: 'permission_denied', operation: 'deleteMemory' });
  expect(denied.length).toBeGreaterThan(0);
});

clause('AUDIT-004', 'decisions §6: a replayed answer is no second deed', async () => {
  const headers = { 'idempotency-key': uniqueWord() };
  const body = { content: `Once ${uniqueWord()}` };
  const { id } = expectBody(await writer.post('/v1/memory/store', body, headers), 201, z.looseObject({ id: z.string() }));
  expect((await writer.post('/v1/memory/store', body, headers)).headers.get('idempotent-replayed')).toBe('true');
  expect(await entries({ subject_id: id })).toHaveLength(1);
});

clause('AUDIT-005', 'decisions §3: sign-ins, failures, codes and sign-outs are there, with the user', async () => {
  const user = await steppedUpUser(server);
  await as(server, 'nobody').post('/auth/sessions', { email: user.email, password: 'wrong' });
  await user.client.post('/auth/sessions/totp', { code: wrongCode(user.secret) });
  await user.client.delete('/auth/sessions/current');
  const found = (await entries({ user_id: user.id })).map(({ operation, outcome }) => `${operation} ${outcome}`);
  expect(found).toEqual(['signOut succeeded', 'stepUp totp_invalid', 'signIn unauthenticated', 'confirmTotp succeeded', 'enrollTotp succeeded', 'signIn succeeded']);
});

clause('AUDIT-006', 'decisions §3: an Architect and an admin key see their own organization; nobody else sees any', async () => {
  const { id } = await store(writer, { content: `Private ${uniqueWord()}` });
  expect(await entries({ subject_id: id }, as(server, 'architect_user'))).toHaveLength(1);
  for (const actor of ['other_admin', 'other_sovereign_user'] as const) expect(await entries({ subject_id: id }, as(server, actor))).toEqual([]);
  for (const actor of ['read_only', 'read_write', 'publisher', 'admin_user', 'learner_user'] as const) {
    for (const path of ['/v1/audit-log', '/v1/audit-log/verify']) expectError(await as(server, actor).get(path), 403, 'permission_denied');
  }
  expectError(await as(server, 'nobody').get('/v1/audit-log'), 401, 'unauthenticated');
});

clause('AUDIT-007', 'decisions §3: entries are sealed within seconds, the chain is valid, and anybody can compute it again', async () => {
  const user = await newUser(server);
  await eventually(async () => expect((await entries({ user_id: user.id })).every(({ hash }) => hash !== null)).toBe(true));
  const verdict = expectBody(await admin.get('/v1/audit-log/verify'), 200, Verdict);
  expect(verdict).toMatchObject({ valid: true, first_invalid: null, entries_sealed: verdict.head_sequence });
  const sealed = (await entries({})).filter(({ hash }) => hash !== null);
  const organizationId = server.credentials.organization_id;
  for (const [index, entry] of sealed.slice(0, -1).entries()) {
    const previous = sealed[index + 1]!;
    expect(entry.sequence).toBe(previous.sequence! + 1);
    const canonical = JSON.stringify([
      entry.sequence, organizationId, entry.created_at, entry.actor_kind, entry.credential_id, entry.user_id, entry.operation,
      entry.subject_ids, entry.outcome, entry.request_id, entry.address, entry.user_agent,
    ]);
    expect(createHash('sha256').update(Buffer.from(previous.hash!, 'hex')).update(canonical).digest('hex')).toBe(entry.hash);
  }
});

clause('AUDIT-008', 'decisions §5: the log is paged and filtered as every list', async () => {
  const { id } = await store(writer, { content: `Paged ${uniqueWord()}` });
  for (const value of ['a', 'b', 'c', 'd']) await writer.patch(`/v1/memory/${id}`, { metadata: { value } });
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: z.output<typeof EntryPage> = expectBody(await admin.get(`/v1/audit-log?subject_id=${id}&limit=2${cursor && `&cursor=${encodeURIComponent(cursor)}`}`), 200, EntryPage);
    seen.push(...page.data.map((entry) => entry.id));
    cursor = page.next_cursor;
  }
  expect(seen).toEqual((await entries({ subject_id: id })).map((entry) => entry.id));
  expect(seen).toHaveLength(5);
  const [newest] = await entries({ subject_id: id });
  expect(await entries({ subject_id: id, since: newest!.created_at })).toHaveLength(1);
  expect(await entries({ subject_id: id, until: newest!.created_at })).toHaveLength(4);
});
