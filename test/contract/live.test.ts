import { connect } from 'node:net';
import { expect } from 'vitest';
import { z } from 'zod';
import { as, withKey } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually, whenProcessed } from '../harness/eventually.ts';
import { rawSocket, refusedUpgrade, subscribe } from '../harness/live.ts';
import { store } from '../harness/memory.ts';
import { adminDatabaseUrl, isSplit, startServer } from '../harness/server.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { expectBody, NewApiKey } from '../harness/shapes.ts';
import { newUser } from '../harness/users.ts';
import { uniqueWord } from '../harness/words.ts';

const server = sharedServer();
const { read_write: key, admin: adminKey } = server.credentials.api_keys;
const writer = as(server, 'read_write');

/** Long enough that nobody is done with it before the next request is there. */
const long = (): string => Array.from({ length: 3000 }, (_, index) => `Sentence ${index} of ${uniqueWord()} is about live state.`).join(' ');
const entityOf = ({ data }: { data?: unknown }): Record<string, unknown> => z.object({ memoryProcessed: z.record(z.string(), z.unknown()) }).parse(data).memoryProcessed;

/** The errors for which there is no stream, by their codes. */
async function refusal(as: string | null, id: string, query?: string): Promise<string[]> {
  await using live = subscribe(server, as, id, query);
  const thrown: unknown = await live.next().then((value) => expect.fail(JSON.stringify(value)), (error: unknown) => error);
  return z.array(z.looseObject({ extensions: z.looseObject({ code: z.string(), status: z.int(), request_id: z.string() }) })).parse(thrown).map(({ extensions }) => extensions.code);
}

clause('LIVE-001', 'decisions §13: memoryProcessed(id) gives the object when its processing is done', async () => {
  const { id, processing } = await store(writer, { content: long() });
  expect(processing.embedding_status).toBe('pending');
  await using live = subscribe(server, key, id);
  expect(entityOf(await live.next())).toEqual({ id, status: 'STORED', processing: { embeddingStatus: 'COMPLETED' } });
});

clause('LIVE-002', 'decisions §13: who subscribes after it was done is told at once, and of each time that it is done again', async () => {
  const { id } = await store(writer, { content: `Live ${uniqueWord()}` });
  await whenProcessed(writer, id);
  await using live = subscribe(server, key, id);
  expect(entityOf(await live.next())).toMatchObject({ id });
  for (let change = 0; change < 2; change += 1) {
    await writer.patch(`/v1/memory/${id}`, { content: `Changed ${uniqueWord()}` });
    expect(entityOf(await live.next())).toMatchObject({ id, processing: { embeddingStatus: 'COMPLETED' } });
  }
});

clause('LIVE-003', 'decisions §13: the selection reaches other subgraphs, with fragments, aliases and directives', async () => {
  const { id } = await store(writer, { content: `Across ${uniqueWord()}` });
  const query = `subscription Live($id: ID!) { ...Root }
    fragment Root on Subscription { done: memoryProcessed(id: $id) { ...Object hidden: id @skip(if: true) } }
    fragment Object on MemoryObject { identifier: id workspace { name vault { name } } }`;
  await using live = subscribe(server, key, id, query);
  expect((await live.next()).data).toEqual({ done: { identifier: id, workspace: { name: 'default', vault: { name: 'main' } } } });
});

clause('LIVE-004', 'decisions §13: authorization is checked at the start: what is unknown, or belongs to another tenant, is not found', async () => {
  const { id } = await store(writer, { content: `Theirs ${uniqueWord()}` });
  const { other_tenant: other } = server.credentials;
  for (const stranger of [other.api_keys.admin, other.users.sovereign.session_token]) expect(await refusal(stranger, id)).toEqual(['not_found']);
  expect(await refusal(key, `mem_${uniqueWord()}`)).toEqual(['not_found']);
  expect(await refusal(server.credentials.publisher_token, id)).toEqual(['permission_denied']);
  expect(await refusal(null, id)).toEqual(['unauthenticated']);
});

clause('LIVE-005', 'decisions §13: a revoked credential ends the stream with close code 4403, without waiting for an event', async () => {
  const made = expectBody(await as(server, 'admin').post('/v1/api-keys', { name: uniqueWord(), level: 'read-only' }), 201, NewApiKey);
  const { id } = await store(writer, { content: `Revoked ${uniqueWord()}` });
  await whenProcessed(writer, id);
  await using live = subscribe(server, made.key, id);
  await live.next();
  await as(server, 'admin').delete(`/v1/api-keys/${made.id}`);
  expect((await live.closed).code).toBe(4403);
});

clause('LIVE-006', 'decisions §13: so does a sign-out, and a role that was taken away ends what it showed', async () => {
  const [user, leaving] = [await newUser(server, { role: 'viewer' }), await newUser(server, { role: 'viewer' })];
  const { id } = await store(writer, { content: `Role ${uniqueWord()}` });
  await whenProcessed(writer, id);
  await using live = subscribe(server, user.token, id);
  await live.next();
  await as(server, 'sovereign_user').delete(`/v1/members/${user.id}`);
  await writer.patch(`/v1/memory/${id}`, { content: `Secret now ${uniqueWord()}` });
  const last = await live.next();
  expect(last.data ?? null).toBeNull();
  expect(JSON.stringify(last)).toMatch(/permission_denied|not_found/);
  await using other = subscribe(server, leaving.token, id);
  await other.next();
  await leaving.client.delete('/auth/sessions/current');
  expect((await other.closed).code).toBe(4403);
});

clause('LIVE-007', 'decisions §13: an invalid credential does not come in', async () => {
  for (const wrong of [`qk_${'A'.repeat(43)}`, 'nonsense']) {
    await using live = subscribe(server, wrong, 'mem_x');
    await live.next().catch(() => undefined);
    expect((await live.closed).code).toBe(4403);
  }
});

clause('LIVE-008', 'decisions §13: documents keep to the same rules as over HTTP, and only subscriptions come this way', async () => {
  const { id } = await store(writer, { content: `Rules ${uniqueWord()}` });
  const wrong = [
    'query ($id: ID!) { memory(id: $id) { id } }',
    'mutation ($id: ID!) { deleteMemory(id: $id) { id } }',
    'subscription ($id: ID!) { memoryProcessed(id: $id) { nothing } }',
    'subscription ($id: ID!) { a: memoryProcessed(id: $id) { id } b: memoryProcessed(id: $id) { id } }',
    'subscription { memoryProcessed { id } }',
    'subscription {',
    `subscription ($id: ID!) { memoryProcessed(id: $id) { ${Array.from({ length: 40 }, (_, index) => `a${index}: id`).join(' ')} } }`,
    'subscription ($id: ID!) { memoryProcessed(id: $id) { __schema { types { name } } } }',
  ];
  for (const query of wrong) expect(await refusal(key, id, query), query).toEqual(['validation_error']);
});

clause('LIVE-009', 'decisions §13: the protocol is graphql-transport-ws, with its close codes', async () => {
  const unauthorized = await rawSocket(server);
  unauthorized.send({ type: 'subscribe', id: '1', payload: { query: '{ __typename }' } });
  expect(await unauthorized.closed).toBe(4401);
  const malformed = await rawSocket(server);
  malformed.send('no message');
  expect(await malformed.closed).toBe(4400);
  const twice = await rawSocket(server);
  twice.send({ type: 'connection_init', payload: { authorization: `Bearer ${key}` } });
  twice.send({ type: 'connection_init' });
  expect(await twice.closed).toBe(4429);
  const silent = await rawSocket(server);
  expect(await silent.closed).toBe(4408);
  const large = await rawSocket(server);
  large.send({ type: 'connection_init', payload: { text: 'x'.repeat(200_000) } });
  expect(await large.closed).toBe(1009);
  const other = await rawSocket(server, {}, 'graphql-ws').catch(() => null);
  if (other !== null) expect(await other.closed).toBe(4406);
});

clause('LIVE-010', 'decisions §13: a page of another site cannot open a socket', async () => {
  expect(await refusedUpgrade(server, { origin: 'https://elsewhere.example' })).toBe(403);
  expect(await refusedUpgrade(server, { origin: 'null' })).toBe(403);
  const own = await rawSocket(server, { origin: server.baseUrl });
  own.socket.close();
  await own.closed;
});

clause('LIVE-014', 'decisions §13: what is refused and then reset, or offers another upgrade, harms nobody', async () => {
  await using own = await startServer();
  const { hostname, port } = new URL(own.baseUrl);
  const knock = (path: string, headers: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\nconnection: upgrade\r\n${headers}\r\n\r\n`));
      socket.on('error', () => {});
      socket.once('data', (data) => {
        socket.resetAndDestroy();
        resolve(String(data));
      });
    });
  for (let round = 0; round < 20; round += 1) {
    expect(await knock('/nowhere', 'upgrade: websocket')).toMatch(/^HTTP\/1.1 404/);
    expect(await knock('/graphql', 'upgrade: websocket\r\norigin: https://elsewhere.example')).toMatch(/^HTTP\/1.1 403/);
  }
  expect(await knock('/version', 'upgrade: h2c')).toMatch(/^HTTP\/1.1 200/);
  expect((await fetch(`${own.baseUrl}/version`)).status).toBe(200);
});

clause('LIVE-015', 'decisions §13: a client that asks and does not read is closed', async () => {
  const greedy = await rawSocket(server);
  greedy.send({ type: 'connection_init', payload: { authorization: `Bearer ${key}` } });
  await eventually(async () => expect(greedy.messages).toContainEqual({ type: 'connection_ack' }));
  greedy.socket.pause();
  const payload = { text: 'x'.repeat(100_000) };
  let isOpen = true;
  void greedy.closed.then(() => (isOpen = false));
  for (let sent = 0; sent < 2_000 && isOpen; sent += 1) {
    greedy.send({ type: 'ping', payload });
    if (sent % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  greedy.socket.resume();
  expect(await greedy.closed).toBe(1006);
});

clause('LIVE-016', 'decisions §13: an id that is used again leaves no stream behind', async () => {
  await using own = await startServer();
  const ownKey = own.credentials.api_keys.read_write;
  const { id } = await store(withKey(own, ownKey), { content: `Again ${uniqueWord()}` });
  await whenProcessed(withKey(own, ownKey), id);
  const restless = await rawSocket(own);
  restless.send({ type: 'connection_init', payload: { authorization: `Bearer ${ownKey}` } });
  await eventually(async () => expect(restless.messages).toContainEqual({ type: 'connection_ack' }));
  const payload = { query: 'subscription ($id: ID!) { memoryProcessed(id: $id) { id } }', variables: { id } };
  for (let round = 0; round < 50; round += 1) {
    restless.send({ type: 'subscribe', id: 'same', payload });
    restless.send({ type: 'complete', id: 'same' });
  }
  restless.send({ type: 'subscribe', id: 'other', payload });
  await eventually(async () => expect(restless.messages).toContainEqual(expect.objectContaining({ type: 'next', id: 'other' })));
  restless.socket.close();
  await restless.closed;
  await eventually(async () => expect(await (await fetch(`${own.baseUrl}/metrics`)).text()).toMatch(/^live_subscriptions 0$/m));
});

clause('LIVE-011', 'decisions §13: connections of an address and subscriptions of a connection are limited, and a stop closes with 1001', async () => {
  await using own = await startServer({ env: { LIVE_CONNECTIONS_PER_ADDRESS: '2', LIVE_SUBSCRIPTIONS_PER_CONNECTION: '2' } });
  const ownKey = own.credentials.api_keys.read_write;
  const { id } = await store(withKey(own, ownKey), { content: `Many ${uniqueWord()}` });
  await whenProcessed(withKey(own, ownKey), id);
  const first = await rawSocket(own);
  const second = await rawSocket(own);
  expect(await refusedUpgrade(own)).toBe(429);
  first.socket.close();
  const third = await eventually(() => rawSocket(own));
  second.send({ type: 'connection_init', payload: { authorization: `Bearer ${ownKey}` } });
  await eventually(async () => expect(second.messages).toContainEqual({ type: 'connection_ack' }));
  const subscribeAgain = (number: number) =>
    second.send({ type: 'subscribe', id: `${number}`, payload: { query: 'subscription ($id: ID!) { memoryProcessed(id: $id) { id } }', variables: { id } } });
  subscribeAgain(1);
  subscribeAgain(2);
  await eventually(async () => expect(second.messages.filter(({ type }) => type === 'next')).toHaveLength(2));
  const metrics = await (await fetch(`${own.baseUrl}/metrics`)).text();
  expect(metrics).toMatch(/^live_subscriptions 2$/m);
  subscribeAgain(3);
  expect(await second.closed).toBe(4429);
  await eventually(async () => expect(await (await fetch(`${own.baseUrl}/metrics`)).text()).toMatch(/^live_subscriptions 0$/m));
  third.send({ type: 'connection_init', payload: { authorization: `Bearer ${ownKey}` } });
  await eventually(async () => expect(third.messages).toContainEqual({ type: 'connection_ack' }));
  await own.restart();
  expect(await third.closed).toBe(1001);
});

clause('LIVE-012', 'decisions §13: events reach the subscribers of every gateway', async () => {
  await using first = await startServer();
  await using second = await startServer({ dataDir: first.dataDir, env: { DATABASE_URL: first.databaseUrl! } });
  const client = as(first, 'read_write');
  const { id } = await store(client, { content: `Shared ${uniqueWord()}` });
  await whenProcessed(client, id);
  const streams = [first, second].map((gateway) => subscribe(gateway, first.credentials.api_keys.read_write, id));
  for (const live of streams) expect(entityOf(await live.next())).toMatchObject({ id });
  await client.patch(`/v1/memory/${id}`, { content: `Shared and changed ${uniqueWord()}` });
  for (const live of streams) expect(entityOf(await live.next())).toMatchObject({ id, processing: { embeddingStatus: 'COMPLETED' } });
  for (const live of streams) await live[Symbol.asyncDispose]();
}, { skipIf: adminDatabaseUrl === undefined || isSplit });

clause('LIVE-013', 'decisions §13: an admin key sees what lies in another workspace of its vault, a key of one workspace does not', async () => {
  const { id } = await store(as(server, 'admin'), { content: `Research ${uniqueWord()}`, workspace_id: server.credentials.workspaces.research });
  await whenProcessed(as(server, 'admin'), id);
  await using live = subscribe(server, adminKey, id);
  expect(entityOf(await live.next())).toMatchObject({ id });
  expect(await refusal(key, id)).toEqual(['not_found']);
});
