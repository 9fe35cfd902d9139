import { expect } from 'vitest';
import { type Answer, as, type HttpClient, withKey } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually } from '../harness/eventually.ts';
import { idsOf, list, query, retrieve, store } from '../harness/memory.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { expectBody, expectError, MemoryObject, StoreReceipt } from '../harness/shapes.ts';
import { uniqueWord } from '../harness/words.ts';

const server = sharedServer();
const reader = as(server, 'read_only');
const writer = as(server, 'read_write');
const admin = as(server, 'admin');
const stranger = as(server, 'other_read_write');

/** Every operation on memory, keys and exports, with input that is valid apart from who asks. */
const operations = (id: string): readonly (readonly [string, (client: HttpClient, headers?: Record<string, string>) => Promise<Answer>])[] => [
  ['store', (client, headers) => client.post('/v1/memory/store', { content: `never ${uniqueWord()}` }, headers)],
  ['batch', (client, headers) => client.post('/v1/memory/batch', { memories: [{ content: `never ${uniqueWord()}` }] }, headers)],
  ['retrieve', (client, headers) => client.get('/v1/memory/retrieve?q=x', headers)],
  ['list', (client, headers) => client.get('/v1/memory', headers)],
  ['get', (client, headers) => client.get(`/v1/memory/${id}`, headers)],
  ['patch', (client, headers) => client.patch(`/v1/memory/${id}`, { metadata: { a: 'b' } }, headers)],
  ['delete', (client, headers) => client.delete(`/v1/memory/${id}`, headers)],
  ['restore', (client, headers) => client.post(`/v1/memory/${id}/restore`, undefined, headers)],
  ['related', (client, headers) => client.get(`/v1/memory/${id}/related`, headers)],
  ['stats', (client, headers) => client.get('/v1/memory/stats', headers)],
  ['make key', (client, headers) => client.post('/v1/api-keys', { name: 'never', level: 'read-only' }, headers)],
  ['list keys', (client, headers) => client.get('/v1/api-keys', headers)],
  ['export', (client, headers) => client.post('/api/exports/full', undefined, headers)],
];
const byId = ['get', 'patch', 'delete', 'restore', 'related'];

async function expectEverywhere401(client: HttpClient, headers: Record<string, string>): Promise<void> {
  for (const [name, call] of operations('mem_unknown')) {
    const answer = await call(client, headers);
    expect(answer.status, name).toBe(401);
    expectError(answer, 401, 'unauthenticated');
  }
}

clause('AUTH-401-001', 'interface §5 rule 2: a missing credential gives 401 on every operation', () => expectEverywhere401(as(server, 'nobody'), {}));

clause('AUTH-401-002', 'interface §5 rule 2: an unknown key gives 401 on every operation', () => expectEverywhere401(withKey(server, `qk_${'A'.repeat(43)}`), {}));

clause('AUTH-401-003', 'interface §5 rule 2: a credential that is no key of ours gives 401', async () => {
  const good = server.credentials.api_keys.read_write;
  const wrong = ['', 'Bearer', 'Bearer ', 'Bearer x', `Basic ${btoa(`${good}:`)}`, good, `Token ${good}`, `Bearer ${good}x`, `Bearer ${good.slice(0, -1)}`, `Bearer ${good} ${good}`, 'Bearer qk_\u00e9'];
  for (const authorization of wrong) {
    const answer = await as(server, 'nobody').get('/v1/memory', { authorization });
    expect(answer.status, authorization).toBe(401);
    expectError(answer, 401, 'unauthenticated');
  }
});

clause('AUTH-401-004', 'interface §5 rule 2: a key in the query string is no credential', async () => {
  const answer = await as(server, 'nobody').get(`/v1/memory/stats${query({ api_key: server.credentials.api_keys.read_write })}`);
  expectError(answer, 401, 'unauthenticated');
});

clause('AUTH-401-005', 'interface §5 rule 2: a missing credential gives 401 also when the input is bad', async () => {
  expectError(await as(server, 'nobody').post('/v1/memory/store', { wrong: true }), 401, 'unauthenticated');
});

clause('AUTH-X-API-KEY-001', 'decisions §3: X-API-Key without Authorization gives 401 whose message names the replacement', async () => {
  const answer = await as(server, 'nobody').get('/v1/memory', { 'x-api-key': server.credentials.api_keys.read_write });
  expect(expectError(answer, 401, 'unauthenticated').message).toMatch(/Authorization: Bearer/);
});

clause('AUTH-X-API-KEY-002', 'interface §5 rule 1: only Authorization counts, whatever X-API-Key says beside it', async () => {
  expect((await writer.get('/v1/memory', { 'x-api-key': 'anything' })).status).toBe(200);
  const unknown = withKey(server, `qk_${'B'.repeat(43)}`);
  expectError(await unknown.get('/v1/memory', { 'x-api-key': server.credentials.api_keys.read_write }), 401, 'unauthenticated');
});

clause('AUTH-403-001', 'interface §5 rule 2: a read-only key on a write gives 403 permission_denied and changes nothing', async () => {
  const word = uniqueWord();
  const { id } = await store(writer, { content: `Guarded ${word}` });
  const writes = ['store', 'batch', 'patch', 'delete', 'restore'];
  for (const [name, call] of operations(id).filter(([operation]) => writes.includes(operation))) {
    const answer = await call(reader);
    expect(answer.status, name).toBe(403);
    expectError(answer, 403, 'permission_denied');
  }
  const object = expectBody(await writer.get(`/v1/memory/${id}`), 200, MemoryObject);
  expect(object).toMatchObject({ content: `Guarded ${word}`, metadata: {}, updated_at: null });
});

clause('AUTH-LEVEL-001', 'interface §5: a read-only key reads', async () => {
  const word = uniqueWord();
  const { id } = await store(writer, { content: `Readable ${word}` });
  expect((await reader.get(`/v1/memory/${id}`)).status).toBe(200);
  expect((await reader.get('/v1/memory/stats')).status).toBe(200);
  expect((await reader.get(`/v1/memory/${id}/related`)).status).toBe(200);
  await eventually(async () => expect(idsOf(await retrieve(reader, { keyword: word }))).toEqual([id]));
  await eventually(async () => expect((await list(reader, { limit: 1000 })).results.map((item) => item.id)).toContain(id));
});

clause('AUTH-LEVEL-002', 'decisions §3: each level includes the one before', async () => {
  for (const client of [writer, admin]) {
    const { id } = await store(client, { content: `Level ${uniqueWord()}` });
    expect((await client.get(`/v1/memory/${id}`)).status).toBe(200);
    expect((await client.delete(`/v1/memory/${id}`)).status).toBe(200);
  }
});

clause('AUTH-LEVEL-003', 'decisions §3: keys and exports need more than read-write: 403 permission_denied', async () => {
  for (const client of [reader, writer]) {
    expectError(await client.post('/v1/api-keys', { name: 'never', level: 'read-only' }), 403, 'permission_denied');
    expectError(await client.get('/v1/api-keys'), 403, 'permission_denied');
    expectError(await client.post('/api/exports/full'), 403, 'permission_denied');
  }
});

clause('AUTH-TENANT-001', 'decisions §3: another tenant\'s object answers 404 to every operation exactly as an unknown id', async () => {
  const { id } = await store(writer, { content: `Ours ${uniqueWord()}` });
  const unknown = `mem_${id.slice(4).split('').reverse().join('')}`;
  for (const client of [stranger, as(server, 'other_admin')]) {
    for (const [name, call] of operations(id).filter(([operation]) => byId.includes(operation))) {
      const foreign = await call(client);
      expect(foreign.status, name).toBe(404);
      const { message, code } = expectError(foreign, 404, 'not_found');
      const missing = expectError(await operations(unknown).find(([operation]) => operation === name)![1](client), 404, 'not_found');
      expect({ code, message: message.replaceAll(id, 'ID') }, name).toEqual({ code: missing.code, message: missing.message.replaceAll(unknown, 'ID') });
    }
  }
  expect((await writer.get(`/v1/memory/${id}`)).status).toBe(200);
});

clause('AUTH-TENANT-002', 'interface §1: search and list of another tenant never show our objects', async () => {
  const word = uniqueWord();
  const { id } = await store(writer, { content: `Secret ${word}` });
  await eventually(async () => expect(idsOf(await retrieve(writer, { keyword: word }))).toEqual([id]));
  for (const client of [stranger, as(server, 'other_admin')]) {
    for (const mode of ['semantic', 'keyword', 'hybrid']) {
      expect(idsOf(await retrieve(client, { q: `Secret ${word}`, mode, limit: 100 })), mode).not.toContain(id);
    }
    expect((await list(client, { limit: 1000 })).results.map((item) => item.id)).not.toContain(id);
  }
});

clause('AUTH-TENANT-003', 'decisions §6: the same content may live in two tenants', async () => {
  const content = `Twice ${uniqueWord()}`;
  await store(writer, { content });
  const theirs = await store(stranger, { content });
  expect(theirs.vault_id).not.toBe(server.credentials.vault_id);
});

clause('AUTH-WORKSPACE-001', 'decisions §8: workspace_id outside the credential\'s reach gives 403 permission_denied', async () => {
  const { workspaces } = server.credentials;
  for (const client of [writer, stranger, as(server, 'other_admin')]) {
    expectError(await client.post('/v1/memory/store', { content: `Never ${uniqueWord()}`, workspace_id: workspaces.research }), 403, 'permission_denied');
    expectError(await client.get(`/v1/memory/retrieve${query({ q: 'x', workspace_id: workspaces.research })}`), 403, 'permission_denied');
  }
});

clause('AUTH-WORKSPACE-002', 'decisions §3: a workspace of another tenant is refused exactly as one that does not exist', async () => {
  const refusal = async (workspace: string) => {
    const answer = await stranger.get(`/v1/memory/retrieve${query({ q: 'x', workspace_id: workspace })}`);
    const { message } = expectError(answer, 403, 'permission_denied');
    return message.replaceAll(workspace, 'ID');
  };
  expect(await refusal(server.credentials.workspaces.default)).toBe(await refusal(`${server.credentials.workspaces.default.slice(0, -1)}x`));
});

clause('AUTH-WORKSPACE-003', 'interface §4.1: workspace_id defaults to the key\'s workspace and may name it', async () => {
  const byDefault = await store(writer, { content: `Default ${uniqueWord()}` });
  const named = await store(writer, { content: `Named ${uniqueWord()}`, workspace_id: byDefault.workspace_id });
  expect(byDefault).toMatchObject({ vault_id: server.credentials.vault_id, workspace_id: server.credentials.workspace_id });
  expect(named.workspace_id).toBe(byDefault.workspace_id);
});

clause('AUTH-WORKSPACE-004', 'decisions §8: an admin key reaches every workspace of its vault, other keys their own', async () => {
  const word = uniqueWord();
  const { research } = server.credentials.workspaces;
  const stored = await store(admin, { content: `Research ${word}`, workspace_id: research });
  expect(stored.workspace_id).toBe(research);
  expect(expectBody(await admin.get(`/v1/memory/${stored.id}`), 200, MemoryObject).workspace_id).toBe(research);
  expectError(await writer.get(`/v1/memory/${stored.id}`), 404, 'not_found');
  expectError(await writer.delete(`/v1/memory/${stored.id}`), 404, 'not_found');
  await eventually(async () => expect(idsOf(await retrieve(admin, { keyword: word, workspace_id: research }))).toEqual([stored.id]));
  expect(idsOf(await retrieve(writer, { keyword: word }))).toEqual([]);
});

clause('AUTH-WORKSPACE-005', 'decisions §6: the same content may live in two workspaces', async () => {
  const content = `Both ${uniqueWord()}`;
  await store(admin, { content });
  expectBody(await admin.post('/v1/memory/store', { content, workspace_id: server.credentials.workspaces.research }), 201, StoreReceipt);
});
