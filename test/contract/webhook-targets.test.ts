import { afterAll, beforeAll, expect } from 'vitest';
import { as, type HttpClient } from '../harness/actors.ts';
import { clause } from '../harness/clause.ts';
import { eventually } from '../harness/eventually.ts';
import { store } from '../harness/memory.ts';
import { type Server, startServer } from '../harness/server.ts';
import { expectBody, expectInvalid } from '../harness/shapes.ts';
import { createWebhook, deliveriesOf, NewWebhook, WebhookPage } from '../harness/webhooks.ts';
import { uniqueWord } from '../harness/words.ts';

let server: Server;
let admin: HttpClient;

beforeAll(async () => {
  server = await startServer({ env: { WEBHOOK_ALLOW_PRIVATE: 'false', EVENT_RETENTION_SECONDS: '5' } });
  admin = as(server, 'admin');
});
afterAll(() => server.stop());

clause('WHK-TARGET-001', 'decisions §12: private, loopback and link-local targets are refused, however they are written', async () => {
  const hosts = [
    '127.0.0.1', '127.1', '0x7f.1', '0177.0.0.1', '2130706433', '0.0.0.0', 'localhost', 'LOCALHOST.', 'app.localhost', '10.1.2.3', '172.16.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1', '198.18.0.1',
    '224.0.0.1', '255.255.255.255', '[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:a00:1]', '[::7f00:1]', '[fe80::1]', '[fd00::1]', '[ff02::1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[2001:db8::1]',
  ];
  for (const host of hosts) {
    const { details } = expectInvalid(await admin.post('/v1/webhooks', { url: `https://${host}:8443/hook`, events: ['*'] }), 'url');
    expect(details?.[0]?.message, host).toMatch(/is not a public address \(\w+\)/);
  }
});

clause('WHK-TARGET-002', 'decisions §12: on the internet a webhook must be https; any port will do; a changed url is judged too', async () => {
  expectInvalid(await admin.post('/v1/webhooks', { url: 'http://8.8.8.8/hook', events: ['*'] }), 'url');
  const { id } = expectBody(await admin.post('/v1/webhooks', { url: 'https://8.8.8.8:8443/hook', events: ['learn.enrolled'] }), 201, NewWebhook);
  expectInvalid(await admin.patch(`/v1/webhooks/${id}`, { url: 'https://127.0.0.1/hook' }), 'url');
  await admin.delete(`/v1/webhooks/${id}`);
});

clause('WHK-TARGET-003', 'decisions §12: a name that cannot be reached is a failed attempt that says why', async () => {
  const { id } = await createWebhook(admin, { url: 'https://nowhere.invalid/hook' }, ['memory.stored']);
  await store(as(server, 'read_write'), { content: `Undeliverable ${uniqueWord()}` });
  await eventually(async () => {
    const [delivery] = await deliveriesOf(admin, id);
    expect(delivery).toMatchObject({ state: 'pending', attempts: 1, last_status: null, last_error: expect.stringContaining('nowhere.invalid') });
  });
});

clause('WHK-LIMIT-001', 'decisions §12: an organization has at most 100 webhooks', async () => {
  const other = as(server, 'other_admin');
  const body = { url: 'https://8.8.8.8/hook', events: ['learn.enrolled'] };
  const answers = await Promise.all(Array.from({ length: 105 }, () => other.post('/v1/webhooks', body)));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(100);
  for (const answer of answers.filter(({ status }) => status !== 201)) expect(expectInvalid(answer).message).toContain('at most 100 webhooks');
  const page = expectBody(await other.get('/v1/webhooks?limit=500'), 200, WebhookPage);
  expect(page).toMatchObject({ has_more: false, approximate_total: 100 });
  const ids = page.data.map(({ id }) => id);
  expect(ids).toEqual([...ids].sort().reverse());
  await other.delete(`/v1/webhooks/${ids[0]}`);
  expectBody(await other.post('/v1/webhooks', body), 201, NewWebhook);
});

clause('WHK-RETENTION-001', 'decisions §12: deliveries are forgotten with their events', async () => {
  const { id } = await createWebhook(admin, { url: 'https://nowhere.invalid/hook' }, ['memory.stored']);
  await store(as(server, 'read_write'), { content: `Forgotten ${uniqueWord()}` });
  await eventually(async () => expect(await deliveriesOf(admin, id)).toHaveLength(1));
  const began = Date.now();
  await eventually(async () => expect(Date.now() - began).toBeGreaterThan(5_000));
  // What is past its time is forgotten at start and once a minute.
  await server.restart();
  await eventually(async () => expect(await deliveriesOf(admin, id)).toEqual([]));
});
