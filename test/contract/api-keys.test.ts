import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { as, withKey } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually } from '../harness/eventually.ts';
import { store } from '../harness/memory.ts';
import { adminDatabaseUrl, startServer } from '../harness/server.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { ApiKeyPage, expectBody, expectError, expectInvalid, NewApiKey } from '../harness/shapes.ts';
import { uniqueWord } from '../harness/words.ts';

const server = sharedServer();
const admin = as(server, 'admin');

const makeKey = async (body: Record<string, unknown> = {}) =>
  expectBody(await admin.post('/v1/api-keys', { name: uniqueWord(), level: 'read-write', ...body }), 201, NewApiKey);

async function listedKeys(client = admin): Promise<{ id: string }[]> {
  const keys: { id: string }[] = [];
  for (let cursor = ''; ; ) {
    const page = expectBody(await client.get(`/v1/api-keys?limit=100${cursor}`), 200, ApiKeyPage);
    keys.push(...page.data);
    if (!page.has_more) return keys;
    cursor = `&cursor=${encodeURIComponent(page.next_cursor ?? '')}`;
  }
}

clause('KEY-CREATE-001', 'decisions §3: POST /v1/api-keys answers 201 with id, name, level, workspace_id, prefix, created_at, expires_at and key', async () => {
  const name = `Key ${uniqueWord()}`;
  const made = await makeKey({ name, level: 'read-only' });
  expect(made).toMatchObject({ name, level: 'read-only', workspace_id: server.credentials.workspace_id, expires_at: null });
  expect(made.key.startsWith(made.prefix)).toBe(true);
  expect(made.prefix.length).toBeLessThan(made.key.length / 2);
});

clause('KEY-CREATE-002', 'decisions §3: a new key works at once, at its level', async () => {
  const reading = withKey(server, (await makeKey({ level: 'read-only' })).key);
  expect((await reading.get('/v1/memory')).status).toBe(200);
  expectError(await reading.post('/v1/memory/store', { content: 'never' }), 403, 'permission_denied');
  const writing = withKey(server, (await makeKey({ level: 'read-write' })).key);
  await store(writing, { content: `By a new key ${uniqueWord()}` });
  expectError(await writing.get('/v1/api-keys'), 403, 'permission_denied');
  const managing = withKey(server, (await makeKey({ level: 'admin' })).key);
  expect((await managing.get('/v1/api-keys')).status).toBe(200);
});

clause('KEY-CREATE-003', 'decisions §3: workspace_id binds the key to that workspace', async () => {
  const { research } = server.credentials.workspaces;
  const made = await makeKey({ workspace_id: research });
  expect(made.workspace_id).toBe(research);
  const bound = withKey(server, made.key);
  expect((await store(bound, { content: `Bound ${uniqueWord()}` })).workspace_id).toBe(research);
  expectError(await bound.post('/v1/memory/store', { content: `Never ${uniqueWord()}`, workspace_id: server.credentials.workspaces.default }), 403, 'permission_denied');
});

clause('KEY-CREATE-004', 'decisions §3: service_account true is accepted', async () => {
  const made = await makeKey({ service_account: true });
  expect((await withKey(server, made.key).get('/v1/memory')).status).toBe(200);
});

clause('KEY-CREATE-005', 'decisions §4: a wrong body is 400 with the path at fault', async () => {
  expectInvalid(await admin.post('/v1/api-keys', { level: 'read-only' }), 'name');
  expectInvalid(await admin.post('/v1/api-keys', { name: 'x' }), 'level');
  expectInvalid(await admin.post('/v1/api-keys', { name: 'x', level: 'root' }), 'level');
  expectInvalid(await admin.post('/v1/api-keys', { name: 5, level: 'admin' }), 'name');
  expectInvalid(await admin.post('/v1/api-keys', { name: 'x', level: 'admin', expires_at: 'tomorrow' }), 'expires_at');
  expectInvalid(await admin.post('/v1/api-keys', { name: 'x', level: 'admin', service_account: 'yes' }), 'service_account');
  expectInvalid(await admin.post('/v1/api-keys', { name: 'x', level: 'admin', colour: 'red' }), 'colour');
});

clause('KEY-EXPIRY-001', 'decisions §3: after expires_at a key is no credential', async () => {
  const expiresAt = new Date(Date.now() + 2_500).toISOString();
  const made = await makeKey({ expires_at: expiresAt });
  expect(new Date(made.expires_at ?? '').getTime()).toBe(new Date(expiresAt).getTime());
  const client = withKey(server, made.key);
  expect((await client.get('/v1/memory')).status).toBe(200);
  await eventually(async () => expectError(await client.get('/v1/memory'), 401, 'unauthenticated'));
  expect(Date.now()).toBeGreaterThanOrEqual(new Date(expiresAt).getTime());
});

clause('KEY-LIST-001', 'decisions §3: GET /v1/api-keys lists the keys without their secrets', async () => {
  const made = await makeKey();
  const answer = await eventually(async () => {
    const page = await admin.get('/v1/api-keys?limit=100');
    expect(page.text).toContain(made.id);
    return page;
  });
  const page = expectBody(answer, 200, ApiKeyPage);
  const { key, ...rest } = made;
  expect(page.data.find(({ id }) => id === made.id)).toMatchObject(rest);
  expect(answer.text).not.toContain(key);
  expect(answer.text).not.toContain(key.slice(3 + 20));
});

clause('KEY-LIST-002', 'decisions §3: another tenant\'s admin neither sees nor removes our keys', async () => {
  const made = await makeKey();
  const stranger = as(server, 'other_admin');
  expect((await listedKeys(stranger)).map(({ id }) => id)).not.toContain(made.id);
  expectError(await stranger.delete(`/v1/api-keys/${made.id}`), 404, 'not_found');
  expect((await withKey(server, made.key).get('/v1/memory')).status).toBe(200);
});

clause('KEY-DELETE-001', 'decisions §3: a deleted key is no credential any more and leaves the list', async () => {
  const made = await makeKey();
  expect((await admin.delete(`/v1/api-keys/${made.id}`)).status).toBeLessThan(300);
  await eventually(async () => expectError(await withKey(server, made.key).get('/v1/memory'), 401, 'unauthenticated'), 2_000);
  await eventually(async () => expect((await listedKeys()).map(({ id }) => id)).not.toContain(made.id));
});

clause('KEY-DELETE-002', 'interface §7: deleting an unknown key is 404 not_found', async () => {
  expectError(await admin.delete('/v1/api-keys/key_unknown'), 404, 'not_found');
  const made = await makeKey();
  expect((await admin.delete(`/v1/api-keys/${made.id}`)).status).toBeLessThan(300);
  expectError(await admin.delete(`/v1/api-keys/${made.id}`), 404, 'not_found');
});

clause('KEY-IDEMPOTENCY-001', 'decisions §6: the replay of a created key is whole, byte for byte, and makes no second key', async () => {
  const name = `Once ${uniqueWord()}`;
  const headers = { 'idempotency-key': uniqueWord() };
  const first = await admin.post('/v1/api-keys', { name, level: 'read-only' }, headers);
  const again = await admin.post('/v1/api-keys', { name, level: 'read-only' }, headers);
  expectBody(first, 201, NewApiKey);
  expect(again.status).toBe(201);
  expect(again.text).toBe(first.text);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  await eventually(async () => expect((await listedKeys()).filter((key) => (key as { name?: string }).name === name)).toHaveLength(1));
});

clause('KEY-SECRET-001', 'decisions §3: a key is stored as a digest only, and a kept response reveals nothing either', async () => {
  await using own = await startServer();
  const client = as(own, 'admin');
  const made = expectBody(await client.post('/v1/api-keys', { name: 'hidden', level: 'admin' }, { 'idempotency-key': uniqueWord() }), 201, NewApiKey);
  const marker = uniqueWord();
  await store(client, { content: `Visible ${marker}` });
  await own.kill();
  const files = (await readdir(own.dataDir, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const holding = async (text: string) => {
    const found = await Promise.all(files.map(async ({ parentPath, name }) => ((await readFile(join(parentPath, name))).includes(text) ? name : null)));
    return found.filter((name) => name !== null);
  };
  expect(await holding(marker), 'the search itself works').not.toEqual([]);
  expect(await holding(made.key)).toEqual([]);
}, { skipIf: adminDatabaseUrl !== undefined });
