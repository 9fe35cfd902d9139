import type { EntityManager } from '@mikro-orm/core';
import { query } from '../database/query.ts';
import type { ListSource } from '../page.ts';
import type { RecordedEvent } from './event-renderer.ts';
import { bodyOf, insertDeliveries, insertMessages, messagesOf } from './messages.ts';
import type { Delivery, DeliveryState, Webhook } from './webhook.ts';
import { renderWebhooks, webhookEvents } from './webhook-events.ts';

const columns = `delivery.id, delivery.message_id as "messageId", message.type, delivery.state, delivery.attempts, delivery.last_status as "lastStatus",
  delivery.last_error as "lastError", delivery.response_ms as "responseMs", delivery.created_at as "createdAt", delivery.next_attempt_at as "nextAttemptAt",
  delivery.delivered_at as "deliveredAt"`;
const from = 'platform.webhook_delivery delivery join platform.webhook_message message on message.id = delivery.message_id';

type Row = Omit<Delivery, 'createdAt' | 'nextAttemptAt' | 'deliveredAt'> & { readonly createdAt: Date; readonly nextAttemptAt: Date | null; readonly deliveredAt: Date | null };

const deliveryOf = ({ createdAt, nextAttemptAt, deliveredAt, ...rest }: Row): Delivery => ({
  ...rest,
  createdAt: createdAt.toISOString(),
  nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
  deliveredAt: deliveredAt?.toISOString() ?? null,
});

/** Of a webhook that the caller manages: that is judged before. Newest first; see `ListSource.fetch`. */
export const deliverySource = (em: EntityManager, webhookId: string, state: DeliveryState | null): ListSource<Delivery> => ({
  keyOf: ({ id }) => id,
  async fetch({ key, operator, order, take }) {
    const side = key === null ? '' : `and delivery.id ${operator} $4`;
    const rows = await query<Row>(
      em,
      `select ${columns} from ${from} where webhook_id = $1 and ($2::text is null or delivery.state = $2) ${side} order by delivery.id ${order} limit $3`,
      [webhookId, state, take, ...(key === null ? [] : [key])],
    );
    return rows.map(deliveryOf);
  },
  async total() {
    const [row] = await query<{ count: number }>(em, 'select count(*) as count from platform.webhook_delivery where webhook_id = $1 and ($2::text is null or state = $2)', [webhookId, state]);
    return row!.count;
  },
});

/** At once and with the whole schedule before it, whatever became of it so far. Null: there is no such delivery. */
export async function redeliver(em: EntityManager, webhookId: string, id: string, now: Date): Promise<Delivery | null> {
  const changed = await query(
    em,
    `update platform.webhook_delivery set state = 'pending', attempts = 0, next_attempt_at = $3 where webhook_id = $1 and id = $2 returning id`,
    [webhookId, id, now],
  );
  return changed.length === 0 ? null : oneDelivery(em, 'delivery.id = $1', [id]);
}

async function oneDelivery(em: EntityManager, where: string, parameters: readonly unknown[]): Promise<Delivery> {
  const [row] = await query<Row>(em, `select ${columns} from ${from} where ${where}`, parameters);
  return deliveryOf(row!);
}

interface Place {
  readonly organizationId: string;
  readonly now: Date;
}

/** Records that a test was asked for, relayed already, so that the answer can name the delivery. From there it goes the way of all. */
export async function queueTest(em: EntityManager, { id }: Webhook, { organizationId, now }: Place): Promise<Delivery> {
  const [recorded] = await query<{ id: number }>(
    em,
    'insert into platform.event (type, organization_id, subject_ids, created_at, relayed) values ($1, $2, $3, $4, true) returning id',
    [webhookEvents.test, organizationId, [id], now],
  );
  const event: RecordedEvent = { id: recorded!.id, type: webhookEvents.test, organizationId, vaultId: null, workspaceId: null, subjectIds: [id], createdAt: now };
  const [data] = await renderWebhooks(em, [event]);
  const message = messagesOf(event)[0]!;
  await insertMessages(em, [{ ...message, body: bodyOf(message, data![0]!) }]);
  await insertDeliveries(em, [{ webhookId: id, message }], 'none', now);
  return oneDelivery(em, 'message_id = $1 and webhook_id = $2', [message.id, id]);
}

/** Has the relay queue every event since then that the webhook listens for: those never delivered to it, or all. */
export async function queueReplay(em: EntityManager, { id }: Webhook, since: Date, isAll: boolean): Promise<void> {
  await query(
    em,
    `insert into platform.webhook_replay (webhook_id, is_all, done_at, done_id, until_id) values ($1, $2, $3, 0, coalesce((select max(id) from platform.event), 0))`,
    [id, isAll, since],
  );
}
