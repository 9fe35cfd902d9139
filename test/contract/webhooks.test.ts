import { afterAll, beforeAll, expect } from 'vitest';
import { as, type HttpClient } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually, whenProcessed } from '../harness/eventually.ts';
import { store, storeAll } from '../harness/memory.ts';
import { type Server, startServer } from '../harness/server.ts';
import { expectBody, expectError, expectInvalid } from '../harness/shapes.ts';
import { type Receiver, startReceiver } from '../harness/webhook-receiver.ts';
import { createWebhook, deliveriesOf, Delivery, DeliveryPage, getWebhook, NewWebhook, toldOf, typesOf, Webhook, WebhookPage } from '../harness/webhooks.ts';
import { uniqueWord } from '../harness/words.ts';

const retrySeconds = [0.4, 0.8, 1.2];
const disableSeconds = 6;
const perSecond = 40;

let server: Server;
let admin: HttpClient;
let writer: HttpClient;

beforeAll(async () => {
  server = await startServer({
    env: {
      WEBHOOK_RETRY_SECONDS: retrySeconds.join(','),
      WEBHOOK_TIMEOUT_SECONDS: '1.5',
      WEBHOOK_DISABLE_SECONDS: `${disableSeconds}`,
      WEBHOOK_DELIVERIES_PER_SECOND: `${perSecond}`,
      WEBHOOK_ROTATION_SECONDS: '3',
      MEMORY_SWEEP_SECONDS: '0.5',
    },
  });
  admin = as(server, 'admin');
  writer = as(server, 'read_write');
});
afterAll(() => server.stop());

/** A receiver and a webhook to it, both gone afterwards: whatever else happens in the vault is not told any more. */
async function listening(events: readonly string[], check: (receiver: Receiver, webhook: NewWebhook) => Promise<void>, client = admin): Promise<void> {
  await using receiver = await startReceiver();
  const webhook = await createWebhook(client, receiver, events);
  try {
    await check(receiver, webhook);
  } finally {
    await client.delete(`/v1/webhooks/${webhook.id}`);
  }
}

const newMemory = () => store(writer, { content: `Told of ${uniqueWord()} ${uniqueWord()}` });
const change = (id: string, patch: object) => admin.patch(`/v1/webhooks/${id}`, patch);
const deliveryWhen = (id: string, expected: Partial<Delivery>, timeoutMs?: number): Promise<Delivery> =>
  eventually(async () => {
    const [delivery] = await deliveriesOf(admin, id);
    expect(delivery).toMatchObject(expected);
    return delivery!;
  }, timeoutMs);

clause('WHK-CREATE-001', 'decisions §12: POST /v1/webhooks answers 201 with id, url, events, state, created_at and a whsec_ secret of 24 to 64 bytes, shown once', async () => {
  const answer = await admin.post('/v1/webhooks', { url: 'https://receiver.example/hook', events: ['memory.stored', 'memory.deleted'], description: 'Mine' });
  const { secret, ...webhook } = expectBody(answer, 201, NewWebhook);
  expect(webhook).toMatchObject({ url: 'https://receiver.example/hook', events: ['memory.stored', 'memory.deleted'], description: 'Mine', state: 'enabled', disabled_reason: null });
  const bytes = Buffer.from(secret.slice('whsec_'.length), 'base64').length;
  expect(bytes).toBeGreaterThanOrEqual(24);
  expect(bytes).toBeLessThanOrEqual(64);
  expect(await getWebhook(admin, webhook.id)).toEqual(webhook);
  const list = expectBody(await admin.get('/v1/webhooks'), 200, WebhookPage);
  expect(list.data.find(({ id }) => id === webhook.id)).toEqual(webhook);
  expect((await admin.delete(`/v1/webhooks/${webhook.id}`)).status).toBe(200);
});

clause('WHK-CREATE-002', 'decisions §12: a wrong url, an unknown event or field is 400 with the path at fault', async () => {
  const events = ['*'];
  expectInvalid(await admin.post('/v1/webhooks', { events }), 'url');
  for (const url of ['', 'receiver', '/hook', 'ftp://receiver.example', 'javascript:alert(1)', 'https://', 'https://user:secret@receiver.example', `https://receiver.example/${'x'.repeat(2000)}`]) {
    expectInvalid(await admin.post('/v1/webhooks', { url, events }), 'url');
  }
  const url = 'https://receiver.example';
  expectInvalid(await admin.post('/v1/webhooks', { url }), 'events');
  for (const wrong of [[], ['memory.unknown'], ['*', 'memory.stored'], ['memory.stored', 'memory.stored'], 'memory.stored', [5], ['webhook.test']]) {
    expectInvalid(await admin.post('/v1/webhooks', { url, events: wrong }), 'events');
  }
  expectInvalid(await admin.post('/v1/webhooks', { url, events, description: 'x'.repeat(501) }), 'description');
  expectInvalid(await admin.post('/v1/webhooks', { url, events, secret: 'mine' }), 'secret');
});

clause('WHK-CREATE-003', 'decisions §12: every event of the interface can be listened for by name', async () => {
  const events = [
    'memory.stored', 'memory.processed', 'memory.deleted', 'memory.archived',
    'extension.installed', 'extension.updated', 'extension.uninstalled', 'extension.health_changed', 'subscription.created', 'subscription.canceled',
    'learn.enrolled', 'learn.lesson_completed', 'learn.course_completed', 'learn.exam_passed', 'learn.exam_failed', 'learn.certification_issued',
    'growth.reward_fulfilled', 'growth.reward_failed', 'growth.badge_awarded', 'growth.loop_propagated', 'webhook.disabled',
  ];
  const { id } = await createWebhook(admin, { url: 'https://receiver.example/all' }, events);
  expect((await getWebhook(admin, id)).events).toEqual(events);
  await admin.delete(`/v1/webhooks/${id}`);
});

clause('WHK-PERMISSION-001', 'decisions §3: webhooks need an admin key, a workspace Admin or an Architect', async () => {
  const body = { url: 'https://receiver.example', events: ['*'] };
  expectError(await as(server, 'nobody').post('/v1/webhooks', body), 401, 'unauthenticated');
  for (const actor of ['read_only', 'read_write', 'editor_user', 'viewer_user'] as const) {
    expectError(await as(server, actor).post('/v1/webhooks', body), 403, 'permission_denied');
    expectError(await as(server, actor).get('/v1/webhooks'), 403, 'permission_denied');
  }
});

clause('WHK-TENANT-001', 'decisions §12: who does not manage a webhook does not find it, at any of its paths', async () => {
  const webhook = await createWebhook(admin, { url: 'https://receiver.example' });
  const path = `/v1/webhooks/${webhook.id}`;
  for (const stranger of [as(server, 'other_admin'), as(server, 'other_architect_user'), as(server, 'admin_user')]) {
    for (const answer of [
      await stranger.get(path), await stranger.patch(path, { state: 'disabled' }), await stranger.delete(path), await stranger.post(`${path}/rotate-secret`),
      await stranger.post(`${path}/test`), await stranger.get(`${path}/deliveries`), await stranger.post(`${path}/deliveries/dlv_1/redeliver`),
      await stranger.post(`${path}/replay`, { since: '2026-01-01T00:00:00Z' }),
    ]) {
      expectError(answer, 404, 'not_found');
    }
    expect(expectBody(await stranger.get('/v1/webhooks?limit=100'), 200, WebhookPage).data.map(({ id }) => id)).not.toContain(webhook.id);
  }
  expect(await getWebhook(as(server, 'architect_user'), webhook.id)).toMatchObject({ id: webhook.id, state: 'enabled' });
  expectError(await admin.get('/v1/webhooks/whk_unknown'), 404, 'not_found');
  expectError(await admin.post(`${path}/deliveries/dlv_unknown/redeliver`), 404, 'not_found');
  await admin.delete(path);
  expectError(await admin.get(path), 404, 'not_found');
});

clause('WHK-SCOPE-001', 'decisions §12: an admin key\'s webhook hears of its vault, a workspace Admin\'s of that workspace, an Architect\'s of the organization, and none of another tenant', async () => {
  const { workspaces, organization_id: organizationId } = server.credentials;
  await using byKey = await startReceiver();
  await using byAdmin = await startReceiver();
  await using byArchitect = await startReceiver();
  await using byStranger = await startReceiver();
  const made = [
    { client: admin, receiver: byKey, scope: 'vault' },
    { client: as(server, 'admin_user'), receiver: byAdmin, scope: 'workspace' },
    { client: as(server, 'architect_user'), receiver: byArchitect, scope: 'organization' },
    { client: as(server, 'other_admin'), receiver: byStranger, scope: 'vault' },
  ];
  const ids: string[] = [];
  for (const { client, receiver, scope } of made) {
    const webhook = await createWebhook(client, receiver, ['memory.stored']);
    expect(webhook.scope).toBe(scope);
    ids.push(webhook.id);
  }
  const here = await newMemory();
  const there = await store(admin, { content: `Elsewhere ${uniqueWord()}`, workspace_id: workspaces.research });
  const abroad = await store(as(server, 'other_read_write'), { content: `Abroad ${uniqueWord()}` });
  for (const receiver of [byKey, byArchitect]) for (const { id } of [here, there]) await toldOf(receiver, id, 1);
  await toldOf(byAdmin, here.id, 1);
  await toldOf(byStranger, abroad.id, 1);
  // All were told of together; whoever was not told by now is not.
  expect(byAdmin.arrivals.map(({ body }) => body.data['id'])).toEqual([here.id]);
  expect(byStranger.arrivals.map(({ body }) => body.data['id'])).toEqual([abroad.id]);
  for (const receiver of [byKey, byArchitect]) expect(receiver.arrivals.map(({ body }) => body.data['id']).sort()).toEqual([here.id, there.id].sort());
  expect(new Set([...byKey.arrivals, ...byAdmin.arrivals, ...byArchitect.arrivals].map(({ body }) => body.organization_id))).toEqual(new Set([organizationId]));
  for (const [index, { client }] of made.entries()) await client.delete(`/v1/webhooks/${ids[index]}`);
});

clause('WHK-EVENT-001', 'decisions §12: memory.stored and memory.processed carry the object as its GET shows it, without the content', async () => {
  await listening(['memory.stored', 'memory.processed'], async (receiver) => {
    const { id } = await store(writer, { content: `Ada Lovelace wrote to ${uniqueWord()} on 10 December 1842.`, metadata: { category: 'letters', camelCase: { innerKey: [1] } } });
    await whenProcessed(writer, id);
    const told = await toldOf(receiver, id, 2);
    expect(typesOf(told)).toEqual(['memory.stored', 'memory.processed']);
    const { content, ...shown } = (await writer.get(`/v1/memory/${id}`)).body as { content: string };
    expect(told[1]!.body.data).toEqual(shown);
    // It was told a moment after it happened, and may have been processed by then.
    const { processing: _now, ...lasting } = shown as { processing?: unknown };
    expect(told[0]!.body.data).toMatchObject(lasting);
    expect(Object.keys(told[0]!.body.data).sort()).toEqual(Object.keys(shown).sort());
    for (const { text } of told) expect(text).not.toContain(content.slice(0, 20));
  });
});

clause('WHK-EVENT-002', 'decisions §12: of a deleted object its id and time are told; an archived one is told too', async () => {
  await listening(['memory.deleted', 'memory.archived'], async (receiver) => {
    const { id } = await newMemory();
    const { deleted_at: deletedAt } = (await writer.delete(`/v1/memory/${id}`)).body as { deleted_at: string };
    const mortal = await store(writer, { content: `Gone soon ${uniqueWord()}`, ttl_seconds: 1 });
    const [deleted] = await toldOf(receiver, id, 1);
    expect(deleted!.body).toMatchObject({ type: 'memory.deleted' });
    expect(deleted!.body.data).toEqual({ id, deleted_at: deletedAt });
    const [archived] = await toldOf(receiver, mortal.id, 1);
    expect(archived!.body).toMatchObject({ type: 'memory.archived', data: { id: mortal.id, status: 'archived' } });
    expect(typesOf(receiver.arrivals).sort()).toEqual(['memory.archived', 'memory.deleted']);
  });
});

clause('WHK-EVENT-003', 'decisions §12: each object of a batch is told of by a message of its own', async () => {
  await listening(['memory.stored'], async (receiver) => {
    const ids = await storeAll(writer, Array.from({ length: 12 }, () => ({ content: `Batch ${uniqueWord()}` })));
    await eventually(async () => expect(receiver.arrivals.map(({ body }) => body.data['id']).sort()).toEqual([...ids].sort()));
    expect(new Set(receiver.arrivals.map(({ body }) => body.id)).size).toBe(ids.length);
  });
});

clause('WHK-SIGN-001', 'decisions §12: messages are signed by Standard Webhooks: webhook-id, webhook-timestamp, webhook-signature, body { id, type, created_at, organization_id, data }', async () => {
  await listening(['memory.stored'], async (receiver, webhook) => {
    const { id, created_at: createdAt } = await newMemory();
    const [told] = await toldOf(receiver, id, 1);
    receiver.verify(told!, webhook.secret);
    expect(told!.headers).toMatchObject({ 'webhook-id': told!.body.id, 'content-type': 'application/json' });
    expect(told!.headers['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/]+=*$/);
    expect(told!.body).toMatchObject({ type: 'memory.stored', created_at: createdAt, organization_id: server.credentials.organization_id });
    expect(Object.keys(told!.body)).toEqual(['id', 'type', 'created_at', 'organization_id', 'data']);
    expect(() => receiver.verify({ ...told!, text: told!.text.replace(id, 'mem_another') }, webhook.secret)).toThrow();
    expect(() => receiver.verify({ ...told!, headers: { ...told!.headers, 'webhook-id': 'evt_another' } }, webhook.secret)).toThrow();
    expect(() => receiver.verify(told!, `whsec_${Buffer.alloc(32).toString('base64')}`)).toThrow();
  });
});

clause('WHK-SIGN-002', 'decisions §12: during a rotation both secrets sign, afterwards the new one alone', async () => {
  await listening(['memory.stored'], async (receiver, webhook) => {
    const rotated = (await admin.post(`/v1/webhooks/${webhook.id}/rotate-secret`)).body as { id: string; secret: string; old_secret_until: string };
    expect(rotated).toMatchObject({ id: webhook.id, secret: expect.stringMatching(/^whsec_/) });
    expect(rotated.secret).not.toBe(webhook.secret);
    const first = await newMemory();
    const [during] = await toldOf(receiver, first.id, 1);
    receiver.verify(during!, webhook.secret);
    receiver.verify(during!, rotated.secret);
    expect(during!.headers['webhook-signature']!.split(' ')).toHaveLength(2);
    await eventually(async () => expect(Date.now()).toBeGreaterThan(new Date(rotated.old_secret_until).getTime()));
    const second = await newMemory();
    const [afterwards] = await toldOf(receiver, second.id, 1);
    receiver.verify(afterwards!, rotated.secret);
    expect(() => receiver.verify(afterwards!, webhook.secret)).toThrow();
  });
});

clause('WHK-TEST-001', 'decisions §12: POST …/test sends a webhook.test message to this webhook alone, whatever it listens for', async () => {
  await using other = await startReceiver();
  const neighbour = await createWebhook(admin, other);
  await listening(['learn.enrolled'], async (receiver, { secret: _secret, ...webhook }) => {
    const queued = expectBody(await admin.post(`/v1/webhooks/${webhook.id}/test`), 200, Delivery);
    expect(queued).toMatchObject({ type: 'webhook.test', state: 'pending', attempts: 0 });
    const [told] = await toldOf(receiver, webhook.id, 1);
    expect(told!.body).toMatchObject({ id: queued.message_id, type: 'webhook.test', data: webhook });
    receiver.verify(told!, _secret);
    expect(await deliveryWhen(webhook.id, { state: 'delivered' })).toMatchObject({ id: queued.id, attempts: 1, last_status: 204, last_error: null, next_attempt_at: null, delivered_at: expect.any(String) });
    // What other tests caused may still be told of.
    expect(typesOf(other.arrivals)).not.toContain('webhook.test');
  });
  await admin.delete(`/v1/webhooks/${neighbour.id}`);
});

clause('WHK-RETRY-001', 'decisions §12: a failure is repeated by the schedule with the same webhook-id and body, until it succeeds', async () => {
  await listening(['memory.stored'], async (receiver, webhook) => {
    const answers = [500, 404, 204];
    receiver.answerWith(() => answers.shift() ?? 204);
    const { id } = await newMemory();
    const told = await toldOf(receiver, id, 3);
    expect(told.map(({ status }) => status)).toEqual([500, 404, 204]);
    expect(new Set(told.map(({ text }) => text)).size).toBe(1);
    for (const one of told) receiver.verify(one, webhook.secret);
    for (const [index, pause] of retrySeconds.slice(0, 2).entries()) {
      const waited = told[index + 1]!.atMs - told[index]!.atMs;
      expect(waited).toBeGreaterThanOrEqual(pause * 1000);
      expect(waited).toBeLessThan(pause * 1000 + 3_000);
    }
    await deliveryWhen(webhook.id, { state: 'delivered', attempts: 3, last_status: 204 });
    expect(await getWebhook(admin, webhook.id)).toMatchObject({ state: 'enabled', failing_since: null });
  });
});

clause('WHK-RETRY-002', 'decisions §12: when the schedule is used up the delivery has failed; a redelivery keeps the webhook-id', async () => {
  await listening(['memory.stored'], async (receiver, webhook) => {
    receiver.answerWith(() => 503);
    const { id } = await newMemory();
    const failed = await deliveryWhen(webhook.id, { state: 'failed' });
    expect(failed).toMatchObject({ attempts: 1 + retrySeconds.length, last_status: 503, next_attempt_at: null, delivered_at: null });
    expect(failed.last_error).toContain('503');
    receiver.answerWith(() => 200);
    expect(expectBody(await admin.post(`/v1/webhooks/${webhook.id}/deliveries/${failed.id}/redeliver`), 200, Delivery)).toMatchObject({ id: failed.id, state: 'pending', attempts: 0 });
    await deliveryWhen(webhook.id, { id: failed.id, state: 'delivered', attempts: 1, last_status: 200 });
    const told = await toldOf(receiver, id, 2 + retrySeconds.length);
    expect(new Set(told.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([failed.message_id]));
  });
});

clause('WHK-RETRY-003', 'decisions §12: a redirect is not followed and counts as a failure; so does no answer in time', async () => {
  await listening(['memory.stored'], async (receiver, webhook) => {
    receiver.answerWith(() => 302);
    const { id } = await newMemory();
    await toldOf(receiver, id, 2);
    expect(receiver.arrivals.map(({ path }) => path)).not.toContain('/elsewhere');
    expect(await deliveryWhen(webhook.id, { last_status: 302 })).toMatchObject({ last_error: 'answered 302' });
    receiver.answerWith(() => new Promise<number>(() => {}));
    await eventually(async () => expect((await deliveriesOf(admin, webhook.id))[0]).toMatchObject({ last_status: null, last_error: 'no answer within 1.5 s' }));
  });
});

clause('WHK-ORDER-001', 'decisions §12: messages of one subject arrive in order, each after the one before was accepted; other subjects do not wait', async () => {
  await listening(['memory.stored', 'memory.processed', 'memory.deleted'], async (receiver) => {
    const stubborn = await newMemory();
    let refusals = 3;
    receiver.answerWith(({ body }) => (body.data['id'] === stubborn.id && (refusals -= 1) >= 0 ? 500 : 204));
    await whenProcessed(writer, stubborn.id);
    await writer.delete(`/v1/memory/${stubborn.id}`);
    const other = await newMemory();
    const [free] = await toldOf(receiver, other.id, 1);
    const told = await toldOf(receiver, stubborn.id, 6);
    expect(typesOf(told)).toEqual([...Array<string>(4).fill('memory.stored'), 'memory.processed', 'memory.deleted']);
    expect(free!.atMs).toBeLessThan(told.at(-1)!.atMs);
  });
});

clause('WHK-RATE-001', 'interface §8.1: never more deliveries to a webhook in any second than the limit, as the receiver counts them', async () => {
  await listening(['memory.stored'], async (receiver) => {
    const count = perSecond * 5;
    // Every tenth is answered when the next has arrived: requests overlap.
    let arrived = 0;
    let release = (): void => {};
    receiver.answerWith(async () => {
      release();
      arrived += 1;
      if (arrived % 10 === 0 && arrived < count) await new Promise<void>((resolve) => (release = resolve));
      return 204;
    });
    await storeAll(writer, Array.from({ length: count }, () => ({ content: `Rate ${uniqueWord()}` })));
    await eventually(async () => expect(receiver.arrivals.length).toBe(count));
    expect(receiver.busiestSecond()).toBeLessThanOrEqual(perSecond);
    const tookMs = receiver.arrivals.at(-1)!.atMs - receiver.arrivals[0]!.atMs;
    expect(tookMs, 'and not much fewer').toBeLessThan(15_000);
  });
});

clause('WHK-SLOW-001', 'decisions §12: a receiver that hangs holds up nobody else', async () => {
  await using hanging = await startReceiver();
  hanging.answerWith(() => new Promise<number>(() => {}));
  const slow = await createWebhook(admin, hanging, ['memory.stored']);
  await listening(['memory.stored'], async (receiver) => {
    const ids = await storeAll(writer, Array.from({ length: 30 }, () => ({ content: `Hanging ${uniqueWord()}` })));
    const began = performance.now();
    await eventually(async () => expect(receiver.accepted.length).toBe(ids.length));
    expect(performance.now() - began).toBeLessThan(4_000);
  });
  await admin.delete(`/v1/webhooks/${slow.id}`);
});

clause('WHK-GONE-001', 'decisions §12: 410 disables the webhook and the organization is told by webhook.disabled', async () => {
  await listening(['webhook.disabled'], async (watcher) => {
    await listening(['memory.stored'], async (receiver, webhook) => {
      receiver.answerWith(() => 410);
      const { id } = await newMemory();
      await toldOf(receiver, id, 1);
      await eventually(async () => expect(await getWebhook(admin, webhook.id)).toMatchObject({ state: 'disabled', disabled_reason: 'gone' }));
      await deliveryWhen(webhook.id, { state: 'failed', attempts: 1, last_status: 410 });
      const [told] = await toldOf(watcher, webhook.id, 1);
      expect(told!.body).toMatchObject({ type: 'webhook.disabled', data: await getWebhook(admin, webhook.id) });
      expect(told!.text).not.toContain('whsec_');
    });
  });
});

clause('WHK-DISABLE-001', 'decisions §12: a failure without a success for the set time disables the webhook and says so in the organization\'s events', async () => {
  await listening(['*'], async (watcher) => {
    await listening(['memory.stored'], async (receiver, webhook) => {
      receiver.answerWith(() => 500);
      await newMemory();
      const failing = await eventually(async () => {
        const found = await getWebhook(admin, webhook.id);
        expect(found.failing_since).not.toBeNull();
        return found;
      });
      // Each attempt asks again whether it has been too long.
      await eventually(async () => {
        await newMemory();
        expect(await getWebhook(admin, webhook.id)).toMatchObject({ state: 'disabled', disabled_reason: 'failing' });
      });
      expect(Date.now() - new Date(failing.failing_since!).getTime()).toBeGreaterThanOrEqual(disableSeconds * 1000);
      const [told] = await toldOf(watcher, webhook.id, 1);
      expect(told!.body).toMatchObject({ type: 'webhook.disabled', data: { id: webhook.id, state: 'disabled', disabled_reason: 'failing' } });
    });
  });
});

clause('WHK-STATE-001', 'decisions §12: a disabled webhook is sent nothing; enabled again it goes on with what was pending', async () => {
  await listening(['memory.stored'], async (receiver, webhook) => {
    receiver.answerWith(() => 500);
    const before = await newMemory();
    await toldOf(receiver, before.id, 1);
    expect(expectBody(await change(webhook.id, { state: 'disabled' }), 200, Webhook)).toMatchObject({ state: 'disabled', disabled_reason: 'owner' });
    receiver.answerWith(() => 204);
    expectError(await admin.post(`/v1/webhooks/${webhook.id}/test`), 409, 'invalid_transition');
    expectError(await admin.post(`/v1/webhooks/${webhook.id}/replay`, { since: '2026-01-01T00:00:00Z' }), 409, 'invalid_transition');
    const meanwhile = await newMemory();
    const [delivery] = await deliveriesOf(admin, webhook.id);
    expect(delivery!.state).toBe('pending');
    expect(expectBody(await change(webhook.id, { state: 'enabled' }), 200, Webhook)).toMatchObject({ state: 'enabled', disabled_reason: null, failing_since: null });
    await deliveryWhen(webhook.id, { id: delivery!.id, state: 'delivered' });
    expect(receiver.arrivals.map(({ body }) => body.data['id'])).not.toContain(meanwhile.id);
  });
});

clause('WHK-UPDATE-001', 'decisions §12: PATCH changes url, events and description, and counts from the next event on', async () => {
  await listening(['memory.deleted'], async (old, webhook) => {
    await using receiver = await startReceiver();
    const changed = expectBody(await change(webhook.id, { url: receiver.url, events: ['memory.stored'], description: 'Changed' }), 200, Webhook);
    expect(changed).toMatchObject({ id: webhook.id, url: receiver.url, events: ['memory.stored'], description: 'Changed', state: 'enabled' });
    const { id } = await newMemory();
    await toldOf(receiver, id, 1);
    expect(old.arrivals).toEqual([]);
    expect(expectBody(await change(webhook.id, { description: null }), 200, Webhook).description).toBeNull();
    expectInvalid(await change(webhook.id, { url: 'nowhere' }), 'url');
    expectInvalid(await change(webhook.id, { events: ['nothing'] }), 'events');
    expectInvalid(await change(webhook.id, { state: 'paused' }), 'state');
    expectInvalid(await change(webhook.id, {}));
  });
});

clause('WHK-DELIVERIES-001', 'decisions §5: GET …/deliveries lists newest first in pages of 50, at most 1000, filtered by state', async () => {
  await listening(['memory.stored'], async (receiver, webhook) => {
    await storeAll(writer, Array.from({ length: 60 }, () => ({ content: `Listed ${uniqueWord()}` })));
    await eventually(async () => expect(receiver.accepted.length).toBe(60));
    await eventually(async () => expect(await deliveriesOf(admin, webhook.id, '?state=pending')).toEqual([]));
    const path = `/v1/webhooks/${webhook.id}/deliveries`;
    const first = expectBody(await admin.get(path), 200, DeliveryPage);
    expect(first).toMatchObject({ has_more: true, approximate_total: 60, prev_cursor: null });
    const second = expectBody(await admin.get(`${path}?cursor=${encodeURIComponent(first.next_cursor!)}`), 200, DeliveryPage);
    expect([first.data.length, second.data.length, second.has_more]).toEqual([50, 10, false]);
    const ids = [...first.data, ...second.data].map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].sort().reverse());
    expect(await deliveriesOf(admin, webhook.id, '?state=delivered&limit=5000')).toHaveLength(60);
    expect(await deliveriesOf(admin, webhook.id, '?state=failed')).toEqual([]);
    expect(await deliveriesOf(admin, webhook.id, '?limit=0')).toEqual([]);
    expectInvalid(await admin.get(`${path}?state=lost`), 'state');
  });
});

clause('WHK-REPLAY-001', 'decisions §12: replay sends every event since then that was never delivered to this webhook, with all: true all again, under the same webhook-id', async () => {
  await using other = await startReceiver();
  const neighbour = await createWebhook(admin, other, ['memory.stored']);
  const since = new Date(Date.now() - 1).toISOString();
  const early = await newMemory();
  const [told] = await toldOf(other, early.id, 1);
  await listening(['memory.stored'], async (receiver, webhook) => {
    const late = await newMemory();
    await toldOf(receiver, late.id, 1);
    await deliveryWhen(webhook.id, { state: 'delivered' });
    const answer = await admin.post(`/v1/webhooks/${webhook.id}/replay`, { since });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toEqual({ id: webhook.id, since, all: false });
    const [replayed] = await toldOf(receiver, early.id, 1);
    expect(replayed!.body).toEqual(told!.body);
    expect(replayed!.text).toBe(told!.text);
    await eventually(async () => expect(await deliveriesOf(admin, webhook.id, '?state=delivered')).toHaveLength(2));
    expect(receiver.arrivals).toHaveLength(2);
    expect((await admin.post(`/v1/webhooks/${webhook.id}/replay`, { since, all: true })).status).toBe(200);
    const again = [...(await toldOf(receiver, early.id, 2)), ...(await toldOf(receiver, late.id, 2))];
    expect(new Set(again.map(({ body }) => body.id)).size).toBe(2);
    expectInvalid(await admin.post(`/v1/webhooks/${webhook.id}/replay`, {}), 'since');
    expectInvalid(await admin.post(`/v1/webhooks/${webhook.id}/replay`, { since: 'yesterday' }), 'since');
  });
  await admin.delete(`/v1/webhooks/${neighbour.id}`);
});

clause('WHK-DELETE-001', 'decisions §12: DELETE answers 200; nothing is sent any more, not even what was waiting', async () => {
  await using receiver = await startReceiver();
  receiver.answerWith(() => 500);
  const { id } = await createWebhook(admin, receiver, ['memory.stored']);
  await newMemory();
  await eventually(async () => expect(receiver.arrivals).toHaveLength(1));
  const answer = await admin.delete(`/v1/webhooks/${id}`);
  expect(answer.body).toMatchObject({ id, status: 'deleted', deleted_at: expect.any(String) });
  // Longer than the first pause: proved by another webhook that is told of something later and retried.
  await listening(['memory.stored'], async (other) => {
    const refusals = [500, 500];
    other.answerWith(() => refusals.shift() ?? 204);
    const later = await newMemory();
    await toldOf(other, later.id, 3);
    expect(receiver.arrivals).toHaveLength(1);
  });
});

clause('WHK-IDEMPOTENCY-001', 'decisions §6: the replay of a created webhook is whole, secret included, and makes no second one', async () => {
  const headers = { 'idempotency-key': uniqueWord() };
  const body = { url: `https://receiver.example/${uniqueWord()}`, events: ['*'] };
  const first = await admin.post('/v1/webhooks', body, headers);
  const again = await admin.post('/v1/webhooks', body, headers);
  const { id } = expectBody(first, 201, NewWebhook);
  expect(again.text).toBe(first.text);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(expectBody(await admin.get('/v1/webhooks?limit=100'), 200, WebhookPage).data.filter(({ url }) => url === body.url)).toHaveLength(1);
  await admin.delete(`/v1/webhooks/${id}`);
});
