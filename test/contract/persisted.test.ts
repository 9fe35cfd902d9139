import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { z } from 'zod';
import { as } from '../harness/actors.ts';
import type { Answer } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { whenProcessed } from '../harness/eventually.ts';
import { subscribe } from '../harness/live.ts';
import { store } from '../harness/memory.ts';
import { repositoryRoot, startServer } from '../harness/server.ts';
import type { Server } from '../harness/server.ts';
import { sharedServer } from '../harness/shared-server.ts';
import { uniqueWord } from '../harness/words.ts';

const folder = join(repositoryRoot, 'schema/operations');
const registered = JSON.parse(readFileSync(join(repositoryRoot, 'schema/generated/persisted-documents.json'), 'utf8')) as Record<string, string>;
const text = readFileSync(join(folder, 'identity/ListWorkspaces.graphql'), 'utf8');
const [hash] = Object.entries(registered).find(([, document]) => document.startsWith('query ListWorkspaces'))!;
const live = readFileSync(join(folder, 'memory/MemoryProcessed.graphql'), 'utf8');

let server: Server;
beforeAll(async () => {
  server = await startServer({ env: { PERSISTED_ONLY: 'true', INTROSPECTION: 'true' } });
});
afterAll(() => server?.stop());

const Listed = z.looseObject({ data: z.looseObject({ workspaces: z.looseObject({ edges: z.array(z.unknown()).min(1) }) }) });
const expectListed = (answer: Answer): void => void Listed.parse(answer.body);
const expectUnregistered = (answer: Answer): void => {
  expect(answer.status).toBe(400);
  expect(answer.body).toMatchObject({ errors: [{ message: expect.stringContaining('not registered') as string, extensions: { code: 'validation_error', status: 400 } }] });
};

/** Every way to name one document. */
const ways = (client: ReturnType<typeof as>): Promise<Answer>[] => {
  const extensions = { persistedQuery: { version: 1, sha256Hash: hash } };
  return [
    client.post('/graphql', { documentId: hash }),
    client.post('/graphql', { extensions }),
    client.get(`/graphql?${new URLSearchParams({ documentId: hash })}`),
    client.get(`/graphql?${new URLSearchParams({ extensions: JSON.stringify(extensions) })}`),
  ];
};

clause('GQL-PERSISTED-001', 'decisions §13: every document of schema/operations is registered by the SHA-256 of its text', async () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.graphql'));
  expect(Object.keys(registered)).toHaveLength(files.length);
  for (const [id, document] of Object.entries(registered)) expect(createHash('sha256').update(document).digest('hex')).toBe(id);
});

clause('GQL-PERSISTED-002', 'decisions §13: PERSISTED_ONLY serves registered documents by text, however formatted, and by hash', async () => {
  const client = as(server, 'read_write');
  for (const query of [text, text.replace(/\s+/g, ' '), `# a comment\n${text}`]) expectListed(await client.post('/graphql', { query }));
  expectListed(await client.get(`/graphql?${new URLSearchParams({ query: text })}`));
  for (const answer of await Promise.all(ways(client))) expectListed(answer);
});

clause('GQL-PERSISTED-003', 'decisions §13: and nothing else, be it valid, introspection or nonsense', async () => {
  const client = as(server, 'read_write');
  for (const query of ['{ __typename }', '{ __schema { types { name } } }', `${text} query Other { __typename }`, text.replace('id', 'id id'), 'nonsense', 1]) {
    expectUnregistered(await client.post('/graphql', { query }));
  }
  expectUnregistered(await client.get(`/graphql?${new URLSearchParams({ query: '{ __typename }' })}`));
  expectUnregistered(await client.post('/graphql', { documentId: '0'.repeat(64) }));
  expectUnregistered(await client.post('/graphql', { extensions: { persistedQuery: { version: 1, sha256Hash: '0'.repeat(64) } } }));
  // A hash beside a text of its own does not smuggle the text in.
  expectUnregistered(await client.post('/graphql', { query: '{ __typename }', documentId: hash }));
});

clause('GQL-PERSISTED-004', 'decisions §13: subscriptions too, and REST goes on as ever', async () => {
  const client = as(server, 'read_write');
  const { id } = await store(client, { content: `Registered ${uniqueWord()}` });
  await whenProcessed(client, id);
  await using stream = subscribe(server, server.credentials.api_keys.read_write, id, live);
  expect((await stream.next()).data).toMatchObject({ memoryProcessed: { id } });
  await using other = subscribe(server, server.credentials.api_keys.read_write, id, 'subscription ($id: ID!) { memoryProcessed(id: $id) { id } }');
  await expect(other.next()).rejects.toMatchObject([{ extensions: { code: 'validation_error' } }]);
});

clause('GQL-PERSISTED-005', 'decisions §13: without PERSISTED_ONLY registered documents can be named by hash as well', async () => {
  const client = as(sharedServer(), 'read_write');
  for (const answer of await Promise.all(ways(client))) expectListed(answer);
  expect((await client.post('/graphql', { query: '{ __typename }' })).status).toBe(200);
  expectUnregistered(await client.post('/graphql', { documentId: '0'.repeat(64) }));
});

clause('GQL-PERSISTED-006', 'interface §7, decisions §13: what is not registered counts as a read', async () => {
  await using own = await startServer({ env: { PERSISTED_ONLY: 'true', RATE_LIMIT_PROFILE: 'guide' } });
  const client = as(own, 'read_write');
  const remaining = async (body: unknown): Promise<number> => Number((await client.post('/graphql', body)).headers.get('x-ratelimit-remaining') ?? NaN);
  const before = await remaining({ documentId: hash });
  expect(await remaining({ query: '{ __typename }' })).toBe(before - 1);
});
