import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { z } from 'zod';
import { as, withKey } from '../harness/actors.ts';
import type { HttpClient } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import type { Role } from '../harness/credentials.ts';
import { store } from '../harness/memory.ts';
import { ask, demoApplication, signIn as visit, trade } from '../harness/oauth.ts';
import { arrival, PlainBrowser, screen } from '../harness/plain-browser.ts';
import { repositoryRoot, startServer } from '../harness/server.ts';
import type { Server } from '../harness/server.ts';
import { expectBody } from '../harness/shapes.ts';
import { codeOf, signIn, steppedUpUser } from '../harness/users.ts';
import { uniqueWord } from '../harness/words.ts';

/** docs/access-matrix.md: operation → column → cell. */
const matrix = new Map<string, ReadonlyMap<string, string>>();
let columns: string[] = [];
for (const line of readFileSync(join(repositoryRoot, 'docs/access-matrix.md'), 'utf8').split('\n')) {
  const cells = line.split('|').slice(1, -1).map((cell) => cell.trim());
  if (cells[0] === 'operation') columns = cells.slice(1);
  else if (/^[a-z]/i.test(cells[0] ?? '')) matrix.set(cells[0]!, new Map(columns.map((column, index) => [column, cells[index + 1]!])));
}

/** One of each thing that an id can name, all of the demo organization. */
interface Planted {
  readonly marker: string;
  readonly memoryId: string;
  readonly keyId: string;
  readonly webhookId: string;
  readonly deliveryId: string;
  readonly exportId: string;
  readonly userId: string;
  readonly workspaceId: string;
}

interface Question {
  /** A document of schema/operations by its name, or its text. */
  readonly document: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}

const document = new Map(
  readdirSync(join(repositoryRoot, 'schema/operations'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.graphql'))
    .map((path) => [path.replace(/^.*\/|\.graphql$/g, ''), readFileSync(join(repositoryRoot, 'schema/operations', path), 'utf8')]),
);

/**
 * How each operation is asked. Whoever may is told of a fault in the input or does something that harms nobody; whoever may
 * not is turned away before. `named` asks for the planted thing, as somebody of another tenant would try.
 */
const questions: Readonly<Record<string, { readonly ask: Question; readonly named?: (planted: Planted) => Question }>> = {
  getOrganization: { ask: { document: '{ organization { id name } }' } },
  getUser: { ask: { document: '{ user(id: "usr_none") { id } }' }, named: ({ userId }) => ({ document: 'query ($id: ID!) { user(id: $id) { id email } }', variables: { id: userId } }) },
  listWorkspaces: { ask: { document: 'ListWorkspaces' } },
  createApiKey: {
    ask: { document: 'CreateApiKey', variables: { input: { name: ' ', level: 'READ_ONLY' } } },
    named: ({ workspaceId }) => ({ document: 'CreateApiKey', variables: { input: { name: 'x', level: 'READ_ONLY', workspaceId } } }),
  },
  listApiKeys: { ask: { document: 'ListApiKeys' } },
  revokeApiKey: { ask: { document: 'RevokeApiKey', variables: { id: 'key_none' } }, named: ({ keyId }) => ({ document: 'RevokeApiKey', variables: { id: keyId } }) },
  startFullExport: { ask: { document: 'StartFullExport' } },
  getExport: { ask: { document: 'GetExport', variables: { id: 'exp_none' } }, named: ({ exportId }) => ({ document: 'GetExport', variables: { id: exportId } }) },
  signIn: { ask: { document: 'SignIn', variables: { email: '', password: 'x' } } },
  getSession: { ask: { document: 'GetSession' } },
  signOut: { ask: { document: 'SignOut' } },
  stepUp: { ask: { document: 'StepUp', variables: { code: ' ' } } },
  enrollTotp: { ask: { document: 'EnrollTotp' } },
  confirmTotp: { ask: { document: 'ConfirmTotp', variables: { code: ' ' } } },
  changePassword: { ask: { document: 'ChangePassword', variables: { currentPassword: 'x', newPassword: 'short' } } },
  createUser: { ask: { document: 'CreateUser', variables: { input: { email: 'nothing', name: 'x' } } } },
  listMembers: { ask: { document: 'ListMembers' }, named: ({ workspaceId }) => ({ document: 'ListMembers', variables: { workspaceId } }) },
  setMember: {
    ask: { document: 'SetMember', variables: { userId: 'usr_none', role: 'VIEWER' } },
    named: ({ userId, workspaceId }) => ({ document: 'SetMember', variables: { userId, role: 'VIEWER', workspaceId } }),
  },
  removeMember: {
    ask: { document: 'RemoveMember', variables: { userId: 'usr_none' } },
    named: ({ userId, workspaceId }) => ({ document: 'RemoveMember', variables: { userId, workspaceId } }),
  },
  createPublisher: { ask: { document: 'CreatePublisher', variables: { name: 'x', slug: 'NOT A SLUG' } } },
  listAuditLog: { ask: { document: 'ListAuditLog' }, named: ({ memoryId }) => ({ document: 'ListAuditLog', variables: { subjectId: memoryId } }) },
  verifyAuditLog: { ask: { document: 'VerifyAuditLog' } },
  createWebhook: { ask: { document: 'CreateWebhook', variables: { input: { url: 'nothing', events: ['*'] } } } },
  listWebhooks: { ask: { document: 'ListWebhooks' } },
  getWebhook: { ask: { document: 'GetWebhook', variables: { id: 'whk_none' } }, named: ({ webhookId: id }) => ({ document: 'GetWebhook', variables: { id } }) },
  updateWebhook: {
    ask: { document: 'UpdateWebhook', variables: { input: { id: 'whk_none', description: 'x' } } },
    named: ({ webhookId: id }) => ({ document: 'UpdateWebhook', variables: { input: { id, description: 'x' } } }),
  },
  deleteWebhook: { ask: { document: 'DeleteWebhook', variables: { id: 'whk_none' } }, named: ({ webhookId: id }) => ({ document: 'DeleteWebhook', variables: { id } }) },
  rotateWebhookSecret: { ask: { document: 'RotateWebhookSecret', variables: { id: 'whk_none' } }, named: ({ webhookId: id }) => ({ document: 'RotateWebhookSecret', variables: { id } }) },
  testWebhook: { ask: { document: 'TestWebhook', variables: { id: 'whk_none' } }, named: ({ webhookId: id }) => ({ document: 'TestWebhook', variables: { id } }) },
  listWebhookDeliveries: {
    ask: { document: 'ListWebhookDeliveries', variables: { id: 'whk_none' } },
    named: ({ webhookId: id }) => ({ document: 'ListWebhookDeliveries', variables: { id } }),
  },
  redeliverWebhook: {
    ask: { document: 'RedeliverWebhook', variables: { id: 'whk_none', deliveryId: 'dlv_none' } },
    named: ({ webhookId: id, deliveryId }) => ({ document: 'RedeliverWebhook', variables: { id, deliveryId } }),
  },
  replayWebhook: {
    ask: { document: 'ReplayWebhook', variables: { id: 'whk_none', since: '2026-01-01T00:00:00Z' } },
    named: ({ webhookId: id }) => ({ document: 'ReplayWebhook', variables: { id, since: '2026-01-01T00:00:00Z', all: true } }),
  },
  storeMemory: {
    ask: { document: 'StoreMemory', variables: { input: { content: ' ' } } },
    named: ({ workspaceId }) => ({ document: 'StoreMemory', variables: { input: { content: 'An intrusion', workspaceId } } }),
  },
  batchStoreMemory: {
    ask: { document: 'BatchStoreMemory', variables: { memories: [{ content: ' ' }] } },
    named: ({ workspaceId }) => ({ document: 'BatchStoreMemory', variables: { memories: [{ content: 'An intrusion', workspace_id: workspaceId, workspaceId }] } }),
  },
  retrieveMemories: {
    ask: { document: 'RetrieveMemories', variables: { input: { keyword: 'nothing' } } },
    named: ({ marker, workspaceId }) => ({ document: 'RetrieveMemories', variables: { input: { keyword: marker, workspaceId } } }),
  },
  getMemory: { ask: { document: 'GetMemory', variables: { id: 'mem_none' } }, named: ({ memoryId: id }) => ({ document: 'GetMemory', variables: { id } }) },
  listMemories: {
    ask: { document: 'ListMemories' },
    named: ({ workspaceId }) => ({ document: 'query ($id: ID) { memories(workspaceId: $id) { edges { node { id } } } }', variables: { id: workspaceId } }),
  },
  updateMemory: {
    ask: { document: 'UpdateMemory', variables: { input: { id: 'mem_none', metadata: { a: 'b' } } } },
    named: ({ memoryId: id }) => ({ document: 'UpdateMemory', variables: { input: { id, content: 'An intrusion' } } }),
  },
  deleteMemory: { ask: { document: 'DeleteMemory', variables: { id: 'mem_none' } }, named: ({ memoryId: id }) => ({ document: 'DeleteMemory', variables: { id } }) },
  restoreMemory: { ask: { document: 'RestoreMemory', variables: { id: 'mem_none' } }, named: ({ memoryId: id }) => ({ document: 'RestoreMemory', variables: { id } }) },
  getRelatedMemories: { ask: { document: 'GetRelatedMemories', variables: { id: 'mem_none' } }, named: ({ memoryId: id }) => ({ document: 'GetRelatedMemories', variables: { id } }) },
  getMemoryStats: { ask: { document: 'GetMemoryStats' }, named: ({ workspaceId }) => ({ document: 'GetMemoryStats', variables: { workspaceId } }) },
  listListings: { ask: { document: '{ listings(first: 1) { edges { node { slug } } } }' } },
  listInstalls: { ask: { document: '{ organization { installs(first: 1) { approximateTotal } } }' } },
  listCourses: { ask: { document: '{ courses(first: 1) { edges { node { slug } } } }' } },
  listEnrollments: { ask: { document: 'own enrollments' } },
  listTracks: { ask: { document: '{ tracks(first: 1) { approximateTotal } }' } },
};

/** Turned away by a rule of the operation's own, behind what it requires. */
const beyond: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  // Only an Owner or an Architect manages members.
  setMember: { viewer: '403', editor: '403', admin: '403', 'admin + code': '403' },
  removeMember: { viewer: '403', editor: '403', admin: '403', 'admin + code': '403' },
  // Replacing an authenticator needs a code of it.
  enrollTotp: { admin: 'code', architect: 'code', sovereign: 'code' },
  // The matrix shows a full set of scopes; this token was not given growth, which asks for a code of its own.
  listTracks: { 'OAuth all scopes': '403' },
};

let server: Server;
let planted: Planted;
let clients: ReadonlyMap<string, { readonly client: HttpClient; readonly userId: string | null }>;

const Reply = z.looseObject({ data: z.unknown(), errors: z.array(z.looseObject({ message: z.string(), extensions: z.looseObject({ code: z.string() }) })).optional() });

async function put(client: HttpClient, question: Question, userId: string | null = null): Promise<{ codes: string[]; text: string }> {
  const text = question.document === 'own enrollments' ? `{ user(id: "${userId ?? server.credentials.users.learner.id}") { enrollments(first: 1) { approximateTotal } } }` : (document.get(question.document) ?? question.document);
  const answer = await client.post('/graphql', { query: text, variables: question.variables ?? {} });
  return { codes: (Reply.parse(answer.body).errors ?? []).map(({ extensions }) => extensions.code), text: answer.text };
}

const outcomeOf = (codes: readonly string[]): string => (codes.includes('unauthenticated') ? '401' : codes.includes('permission_denied') ? '403' : codes.includes('totp_required') ? 'code' : '✓');

beforeAll(async () => {
  server = await startServer({ env: { WEBHOOK_ALLOW_PRIVATE: 'true' } });
  const { users, workspaces } = server.credentials;
  const marker = uniqueWord();
  const admin = as(server, 'admin');
  const { id: memoryId } = await store(admin, { content: `Planted ${marker}` });
  const made = async (path: string, body?: unknown): Promise<string> => expectBody(await admin.post(path, body), 201, z.looseObject({ id: z.string() })).id;
  const keyId = await made('/v1/api-keys', { name: marker, level: 'read-only' });
  const webhookId = await made('/v1/webhooks', { url: 'http://127.0.0.1:9/', events: ['*'], description: marker });
  const deliveryId = expectBody(await admin.post(`/v1/webhooks/${webhookId}/test`), 200, z.looseObject({ id: z.string() })).id;
  const exportId = await made('/api/exports/full');
  planted = { marker, memoryId, keyId, webhookId, deliveryId, exportId, userId: users.viewer.id, workspaceId: workspaces.default };

  const session = async (role: Role) => ({ client: withKey(server, await signIn(server, users[role].email, users[role].password)), userId: users[role].id });
  const application = await demoApplication(server);
  const token = async (scope: string) => {
    const asked = await ask(application, scope);
    const { email, password, totp_secret: secret } = await enrolledArchitect();
    const code = screen(await visit(new PlainBrowser(server.baseUrl), asked.url, { email, password }));
    const consent = screen(await code.press('Continue', { code: codeOf(secret, 1) }));
    return withKey(server, (await trade(application, asked, arrival(await consent.press('Allow')))).access_token);
  };
  const enrolledArchitect = async () => {
    const { email, password, secret } = await steppedUpUser(server, { organizationRole: 'architect', role: 'admin' });
    return { email, password, totp_secret: secret };
  };
  const adminWithCode = await steppedUpUser(server, { role: 'admin' });
  const architectWithCode = await steppedUpUser(server, { organizationRole: 'architect', role: 'admin' });
  clients = new Map(
    Object.entries({
      nobody: { client: as(server, 'nobody'), userId: null },
      'key read-only': { client: as(server, 'read_only'), userId: null },
      'key read-write': { client: as(server, 'read_write'), userId: null },
      'key admin': { client: admin, userId: null },
      publisher: { client: as(server, 'publisher'), userId: null },
      viewer: await session('viewer'),
      editor: await session('editor'),
      admin: await session('admin'),
      architect: await session('architect'),
      sovereign: await session('sovereign'),
      'admin + code': { client: adminWithCode.client, userId: adminWithCode.id },
      'architect + code': { client: architectWithCode.client, userId: architectWithCode.id },
      'OAuth memory.read': { client: await token('memory.read'), userId: null },
      'OAuth all scopes': { client: await token('memory.read memory.write marketplace.manage learn learn.manage'), userId: null },
    }),
  );
});
afterAll(() => server?.stop());

clause('ACCESS-001', 'decisions §3: every operation of the register has a question here, and a column a credential', async () => {
  expect(Object.keys(questions).sort()).toEqual([...matrix.keys()].sort());
  expect([...clients.keys()]).toEqual(columns);
});

clause('ACCESS-002', 'decisions §3: every operation answers every credential as the matrix says', async () => {
  const differing: string[] = [];
  // Signing out comes last: it is the session that asks.
  for (const [operation, row] of [...matrix].sort(([a], [b]) => Number(a === 'signOut') - Number(b === 'signOut'))) {
    for (const [column, cell] of row) {
      const { client, userId } = clients.get(column)!;
      const { codes, text } = await put(client, questions[operation]!.ask, userId);
      const expected = beyond[operation]?.[column] ?? cell;
      if (outcomeOf(codes) !== expected) differing.push(`${operation} as ${column}: ${outcomeOf(codes)} instead of ${expected}: ${text.slice(0, 300)}`);
    }
  }
  expect(differing).toEqual([]);
});

clause('ACCESS-003', 'decisions §3: another tenant\'s strongest credentials see nothing of what is not theirs, and change nothing', async () => {
  const other = await otherTenant();
  const before = await stateOf(planted);
  for (const [name, client] of Object.entries(other)) {
    for (const [operation, { ask: plain }] of Object.entries(questions).filter(([one]) => one !== 'signOut')) {
      const { text: listed } = await put(client, plain);
      for (const secret of [planted.marker, planted.memoryId, planted.keyId, planted.webhookId, server.credentials.organization_id, planted.workspaceId]) {
        expect(listed, `${operation} as ${name}`).not.toContain(secret);
      }
    }
  }
  for (const [name, client] of Object.entries(other)) {
    for (const [operation, { named }] of Object.entries(questions)) {
      if (named === undefined) continue;
      const { codes, text } = await put(client, named(planted));
      expect(text, `${operation} of the planted as ${name}`).not.toMatch(new RegExp(`Planted|viewer@demo|"name":"${planted.marker}"|"description":"${planted.marker}"`));
      // Their own log names what they asked for in vain, and nothing that was done with it.
      if (operation === 'listAuditLog') expect(text).not.toMatch(/succeeded/);
      // A batch answers element by element.
      else if (operation === 'batchStoreMemory') expect(text).toMatch(/"stored":0/);
      else expect(codes.some((code) => code === 'not_found' || code === 'permission_denied'), `${operation} of the planted as ${name}: ${text}`).toBe(true);
    }
  }
  expect(await stateOf(planted)).toEqual(before);
});

clause('ACCESS-004', 'decisions §3: what is another tenant\'s answers exactly as what does not exist', async () => {
  const { sovereign } = await otherTenant();
  const byId = ['getUser', 'revokeApiKey', 'getExport', 'getWebhook', 'deleteWebhook', 'rotateWebhookSecret', 'testWebhook', 'listWebhookDeliveries', 'getMemory', 'deleteMemory', 'restoreMemory', 'getRelatedMemories'];
  for (const operation of byId) {
    const { variables, document: text } = questions[operation]!.named!(planted);
    const id = String(variables!['id']);
    const unknown = `${id.slice(0, -8)}zzzzzzzz`;
    const [foreign, missing] = [await put(sovereign!, { document: text, variables: { id } }), await put(sovereign!, { document: text, variables: { id: unknown } })];
    const told = ({ text: answer }: { text: string }, asked: string): string => answer.replaceAll(asked, 'ID').replace(/"request_id":"[^"]*"/g, '');
    expect(told(foreign, id), operation).toEqual(told(missing, unknown));
  }
});

async function otherTenant(): Promise<Record<string, HttpClient>> {
  const { email, password, totp_secret: secret } = server.credentials.other_tenant.users.sovereign;
  const sovereign = withKey(server, await signIn(server, email, password));
  // One code a step: the second caller finds the session unlifted, and the first has tried what needs it.
  await sovereign.post('/auth/sessions/totp', { code: codeOf(secret!) });
  return { sovereign, admin: as(server, 'other_admin') };
}

/** What somebody else could have harmed. */
async function stateOf({ memoryId, keyId, webhookId, userId }: Planted): Promise<unknown> {
  const admin = as(server, 'admin');
  const { body: object } = await admin.get(`/v1/memory/${memoryId}`);
  const { body: webhook } = await admin.get(`/v1/webhooks/${webhookId}`);
  const keys = z.looseObject({ data: z.array(z.looseObject({ id: z.string() })) }).parse((await admin.get('/v1/api-keys?limit=100')).body);
  const members = z.looseObject({ data: z.array(z.looseObject({ user_id: z.string(), role: z.string() })) }).parse((await admin.get('/v1/members?limit=100')).body);
  const { processing: _processing, ...rest } = z.looseObject({ processing: z.unknown() }).parse(object);
  return { object: rest, webhook, key: keys.data.some(({ id }) => id === keyId), member: members.data.find((member) => member.user_id === userId) };
}
