import { afterAll, beforeAll, expect } from 'vitest';
import { z } from 'zod';
import { type Answer, as, type HttpClient } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually } from '../harness/eventually.ts';
import { store } from '../harness/memory.ts';
import { type Server, startServer } from '../harness/server.ts';
import { expectBody, expectError } from '../harness/shapes.ts';
import { codeOf, newUser, steppedUpUser, wrongCode } from '../harness/users.ts';
import { createWebhook, deliveriesOf } from '../harness/webhooks.ts';
import { uniqueWord } from '../harness/words.ts';

/** A server of its own: the audit log tells how often something was done. */
let server: Server;
let admin: HttpClient;
let sovereign: HttpClient;
beforeAll(async () => {
  server = await startServer({ env: { MEMORY_SWEEP_SECONDS: '1' } });
  admin = as(server, 'admin');
  sovereign = as(server, 'sovereign_user');
});
afterAll(() => server.stop());

/** A request that its row accepts, and another body that it would accept as well; a row without one is sent `{}`. */
interface Sample {
  readonly client: HttpClient;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly other?: unknown;
}

const memoryObject = async (): Promise<Sample> => ({ client: admin, parameters: { id: (await store(admin, { content: uniqueWord() })).id } });
const webhook = async (): Promise<Sample> => ({ client: admin, parameters: { id: (await createWebhook(admin, { url: 'https://receiver.example' })).id } });
const user = async (): Promise<Sample> => ({ client: sovereign, parameters: { userId: (await newUser(server, { role: 'viewer' })).id } });

const samples: Readonly<Record<string, () => Promise<Sample>>> = {
  'POST /v1/memory/store': async () => ({ client: admin, body: { content: uniqueWord() }, other: { content: uniqueWord() } }),
  'POST /v1/memory/batch': async () => ({ client: admin, body: { memories: [{ content: uniqueWord() }] }, other: { memories: [{ content: uniqueWord() }] } }),
  'PATCH /v1/memory/{id}': async () => ({ ...(await memoryObject()), body: { metadata: { a: 1 } }, other: { metadata: { a: 2 } } }),
  'DELETE /v1/memory/{id}': memoryObject,
  'POST /v1/memory/{id}/restore': async () => {
    const { id } = await store(admin, { content: uniqueWord(), ttl_seconds: 1 });
    await eventually(async () => expect((await admin.get(`/v1/memory/${id}`)).body).toMatchObject({ status: 'archived' }));
    return { client: admin, parameters: { id } };
  },
  'POST /v1/api-keys': async () => ({ client: admin, body: { name: 'One', level: 'read-only' }, other: { name: 'Two', level: 'read-only' } }),
  'DELETE /v1/api-keys/{id}': async () => {
    const { id } = expectBody(await admin.post('/v1/api-keys', { name: 'Short', level: 'read-only' }), 201, Made);
    return { client: admin, parameters: { id } };
  },
  'POST /auth/sessions': async () => {
    const { email, password } = await newUser(server);
    return { client: as(server, 'nobody'), body: { email, password }, other: { email: email.toUpperCase(), password } };
  },
  'DELETE /auth/sessions/current': async () => ({ client: (await newUser(server)).client }),
  'POST /auth/sessions/totp': async () => {
    const { client, recoveryCodes } = await steppedUpUser(server);
    return { client, body: { code: recoveryCodes[0] }, other: { code: recoveryCodes[1] } };
  },
  'POST /auth/totp': async () => ({ client: (await newUser(server)).client }),
  'POST /auth/totp/confirm': async () => {
    const { client } = await newUser(server);
    const { secret } = expectBody(await client.post('/auth/totp'), 201, z.looseObject({ secret: z.string() }));
    return { client, body: { code: codeOf(secret) }, other: { code: codeOf(secret, 1) } };
  },
  'POST /auth/password': async () => {
    const { client, password } = await newUser(server);
    return { client, body: { current_password: password, new_password: 'The next password' }, other: { current_password: password, new_password: 'Another password' } };
  },
  'POST /v1/users': async () => ({ client: sovereign, body: { email: `${uniqueWord()}@demo.example`, name: 'New' }, other: { email: `${uniqueWord()}@demo.example`, name: 'New' } }),
  'PUT /v1/members/{userId}': async () => ({ ...(await user()), body: { role: 'editor' }, other: { role: 'admin' } }),
  'DELETE /v1/members/{userId}': user,
  'POST /api/publishers': async () => ({ client: (await steppedUpUser(server, { organizationRole: 'architect' })).client, body: publisher(), other: publisher() }),
  'POST /api/exports/full': async () => ({ client: admin }),
  'POST /v1/webhooks': async () => {
    const body = { url: 'https://receiver.example', events: ['*'] };
    return { client: admin, body, other: { ...body, description: 'Another' } };
  },
  'PATCH /v1/webhooks/{id}': async () => ({ ...(await webhook()), body: { description: 'One' }, other: { description: 'Two' } }),
  'DELETE /v1/webhooks/{id}': webhook,
  'POST /v1/webhooks/{id}/rotate-secret': webhook,
  'POST /v1/webhooks/{id}/test': webhook,
  'POST /v1/webhooks/{id}/deliveries/{delivery_id}/redeliver': async () => {
    const { parameters } = await webhook();
    expect((await admin.post(`/v1/webhooks/${parameters!['id']}/test`)).status).toBe(200);
    const [delivery] = await deliveriesOf(admin, parameters!['id']!);
    return { client: admin, parameters: { ...parameters, delivery_id: delivery!.id } };
  },
  'POST /v1/webhooks/{id}/replay': async () => ({ ...(await webhook()), body: { since: '2026-01-01T00:00:00Z' }, other: { since: '2026-01-01T00:00:00Z', all: true } }),
};

const Made = z.looseObject({ id: z.string() });
const publisher = () => ({ name: 'Publisher', slug: `p-${uniqueWord()}` });

const Description = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), z.looseObject({ operationId: z.string().optional() }))) });

/** `POST /v1/memory/store` → `storeMemory`, for every row that writes. */
async function writeRows(): Promise<Map<string, string>> {
  const { paths } = expectBody(await as(server, 'nobody').get('/openapi.json'), 200, Description);
  const rows = Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, { operationId }]) => [`${method.toUpperCase()} ${path}`, operationId!] as const));
  return new Map(rows.filter(([row]) => !row.startsWith('GET ')));
}

const Log = z.looseObject({ data: z.array(z.unknown()), has_more: z.literal(false) });
const timesDone = async (operation: string): Promise<number> => expectBody(await admin.get(`/v1/audit-log?operation=${operation}&outcome=succeeded&limit=100`), 200, Log).data.length;

function send(row: string, { client, parameters = {} }: Sample, body: unknown, key: string): Promise<Answer> {
  const [method, path] = row.split(' ') as [string, string];
  const headers = { 'idempotency-key': key, ...(body !== undefined && { 'content-type': 'application/json' }) };
  return client.send(method, path.replaceAll(/\{(\w+)\}/g, (_, name: string) => parameters[name]!), body === undefined ? undefined : JSON.stringify(body), headers);
}

/** Its first answer ends the credential that a repeat would come with. */
const endsItsCredential = 'DELETE /auth/sessions/current';

clause('IDEM-EVERY-001', 'decisions §6: every row that writes has a sample here', async () => {
  expect([...(await writeRows()).keys()].sort()).toEqual(Object.keys(samples).sort());
});

clause('IDEM-EVERY-002', 'decisions §6: every POST, PUT, PATCH and DELETE, sent eight times at once and once more, is done once and answered byte for byte alike', async () => {
  for (const [row, operation] of await writeRows()) {
    if (row === endsItsCredential) continue;
    const sample = await samples[row]!();
    const before = await timesDone(operation);
    const key = uniqueWord();
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(row, sample, sample.body, key)));
    const [done, waiting] = [answers.filter(({ status }) => status < 300), answers.filter(({ status }) => status >= 300)];
    for (const answer of waiting) expectError(answer, 409, 'idempotency_in_progress');
    const again = await send(row, sample, sample.body, key);
    expect(again.headers.get('idempotent-replayed'), `${row}: ${again.text}`).toBe('true');
    expect(done.filter(({ headers }) => headers.get('idempotent-replayed') === null), row).toHaveLength(1);
    for (const { status, text } of done) expect({ status, text }, row).toEqual({ status: again.status, text: again.text });
    expect(await timesDone(operation), row).toBe(before + 1);
  }
});

clause('IDEM-EVERY-003', 'decisions §6: every row that writes refuses another body under a used key, and does nothing', async () => {
  for (const [row, operation] of await writeRows()) {
    if (row === endsItsCredential) continue;
    const sample = await samples[row]!();
    const key = uniqueWord();
    expect((await send(row, sample, sample.body, key)).status, row).toBeLessThan(300);
    const before = await timesDone(operation);
    const { status, body } = await send(row, sample, sample.other ?? {}, key);
    expect({ row, status, body }).toMatchObject({ row, status: 409, body: { error: { code: 'idempotency_key_reused' } } });
    expect(await timesDone(operation), row).toBe(before);
  }
});

clause('IDEM-EVERY-004', 'decisions §6: who has signed out gets 401 for the repeat, because a replay needs the credential as much as the first did', async () => {
  const sample = await samples[endsItsCredential]!();
  const key = uniqueWord();
  expect((await send(endsItsCredential, sample, undefined, key)).status).toBe(200);
  expectError(await send(endsItsCredential, sample, undefined, key), 401, 'unauthenticated');
});

clause('IDEM-SIGNIN-001', 'decisions §6: who knows the key of a sign-in and not the password is refused, and each guess is counted', async () => {
  const { email, password } = await newUser(server);
  const signIn = (tried: string, key: string) => as(server, 'nobody').post('/auth/sessions', { email, password: tried }, { 'idempotency-key': key });
  const key = uniqueWord();
  expect((await signIn(password, key)).status).toBe(201);
  for (let guess = 0; guess < 10; guess += 1) expectError(await signIn(`guess ${guess}`, key), 401, 'unauthenticated');
  expect((await signIn('one more', key)).status).toBe(429);
  expect((await signIn(password, key)).status, 'the account is locked for the replay too').toBe(429);
});

clause('IDEM-CODE-001', 'decisions §6: a refused code is not kept: the repeat is judged anew, and the key is free for another', async () => {
  const { client, secret, recoveryCodes } = await steppedUpUser(server);
  const stepUp = (code: string, headers: Record<string, string>) => client.post('/auth/sessions/totp', { code }, headers);
  const headers = { 'idempotency-key': uniqueWord() };
  for (let again = 0; again < 2; again += 1) {
    const refused = await stepUp(wrongCode(secret), headers);
    expectError(refused, 401, 'totp_invalid');
    expect(refused.headers.get('idempotent-replayed')).toBeNull();
  }
  expect((await stepUp(recoveryCodes[0]!, headers)).status).toBe(200);
});
