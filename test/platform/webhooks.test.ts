import { afterAll, beforeAll, expect, it } from 'vitest';
import { pino } from 'pino';
import { systemClock } from '#platform/clock.ts';
import { readConfig } from '#platform/config.ts';
import type { Platform } from '#platform/context.ts';
import type { Database } from '#platform/database/database.ts';
import { migrate } from '#platform/database/migrator.ts';
import { GroupCommit } from '#platform/group-commit.ts';
import { newId } from '#platform/ids.ts';
import { platformMigration } from '#platform/migrations/0001-platform.ts';
import { recordEvents } from '#platform/outbox/record-events.ts';
import { loadSecrets } from '#platform/secrets.ts';
import { webhooksMigration } from '#platform/webhooks/migration.ts';
import { startWebhooks } from '#platform/webhooks/start-webhooks.ts';
import { WebhookScope } from '#platform/webhooks/webhook.ts';
import { insertWebhook } from '#platform/webhooks/webhooks.ts';
import { eventually } from '../harness/eventually.ts';
import { startReceiver } from '../harness/webhook-receiver.ts';
import { openTestDatabase } from './open-test-database.ts';

const perSecond = 40;
let database: Database;
let platform: Platform;

beforeAll(async () => {
  database = await openTestDatabase();
  await migrate(database, [platformMigration, webhooksMigration]);
  const logger = pino({ level: 'warn' });
  const groupCommit = new GroupCommit({ fork: () => database.orm.em.fork(), logger, parallel: 1, groupMax: 128 });
  const config = readConfig({ WEBHOOK_DELIVERIES_PER_SECOND: `${perSecond}`, WEBHOOK_RETRY_SECONDS: '0.3,0.3,0.3', WEBHOOK_TIMEOUT_SECONDS: '1' });
  platform = { config, clock: systemClock, logger, groupCommit, secrets: await loadSecrets(database), exportAreas: [] };
});
afterAll(() => database.close());

const start = () => startWebhooks({ platform, database, open: [], allowPrivate: true });

const makeWebhook = (url: string, organizationId: string, events: readonly string[] = ['*']) =>
  database.orm.em.fork().transactional((em) =>
    insertWebhook(em, {
      id: newId('webhook'), organizationId, scope: WebhookScope.ORGANIZATION, vaultId: null, workspaceId: null, url, events, description: null,
      secret: Buffer.alloc(32), createdBy: 'usr_a', createdAt: systemClock.now(),
    }),
  );

const record = (organizationId: string, type: string, subjectIds: readonly string[]) =>
  database.orm.em.fork().transactional((em) => recordEvents(em, [{ type, organizationId, vaultId: null, workspaceId: null, subjectIds }], systemClock.now()));

it('hands webhooks over from process to process: each message once, in order, at the pace of one', async () => {
  await using receiver = await startReceiver();
  await makeWebhook(receiver.url, 'org_shared');
  const subjects = Array.from({ length: 15 }, (_, index) => `ins_${index}`);
  const types = ['extension.installed', 'extension.updated', 'extension.health_changed', 'extension.updated', 'extension.uninstalled'];
  const first = await start();
  for (const type of types) await record('org_shared', type, subjects);
  await eventually(async () => expect(receiver.arrivals.length).toBeGreaterThan(10));
  // It holds the lease, so this one has nothing to do before that one ends.
  const second = await start();
  try {
    await eventually(async () => expect(receiver.arrivals.length).toBeGreaterThan(25));
    await first.stop();
    expect(receiver.arrivals.length).toBeLessThan(subjects.length * types.length);
    await eventually(async () => expect(receiver.arrivals.length).toBe(subjects.length * types.length));
    expect(new Set(receiver.arrivals.map(({ body }) => body.id)).size).toBe(receiver.arrivals.length);
    for (const id of subjects) expect(receiver.arrivals.filter(({ body }) => body.data['id'] === id).map(({ body }) => body.type)).toEqual(types);
    expect(receiver.busiestSecond()).toBeLessThanOrEqual(perSecond);
  } finally {
    await second.stop();
  }
});

it('leaves alone what no webhook of the organization listens for', async () => {
  await record('org_silent', 'extension.installed', ['ins_1']);
  expect(await database.execute(`select relayed from platform.event where organization_id = 'org_silent'`)).toEqual([{ relayed: true }]);
  await using receiver = await startReceiver();
  await makeWebhook(receiver.url, 'org_loud', ['extension.updated']);
  await record('org_loud', 'extension.installed', ['ins_2']);
  await record('org_loud', 'extension.updated', ['ins_3']);
  const running = await start();
  await eventually(async () => expect(receiver.arrivals.map(({ body }) => body.data['id'])).toEqual(['ins_3']));
  expect(await database.execute(`select subject_id from platform.webhook_message where subject_id in ('ins_2', 'ins_3') and type in ('extension.installed', 'extension.updated') and body like '%org_loud%'`)).toEqual([{ subject_id: 'ins_3' }]);
  expect(await database.execute('select from platform.event where not relayed')).toEqual([]);
  await running.stop();
});

it('records many subjects in rows of at most 100', async () => {
  await record('org_many', 'extension.installed', Array.from({ length: 250 }, (_, index) => `ins_${index}`));
  const rows = await database.execute<{ count: number }>(`select cardinality(subject_ids) as count from platform.event where organization_id = 'org_many' order by id`);
  expect(rows.map(({ count }) => count)).toEqual([100, 100, 50]);
});
