import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/core';
import { query } from '../database/query.ts';
import { newId } from '../ids.ts';
import type { RecordedEvent } from './event-renderer.ts';

/** One event about one subject, as it is sent. */
export interface Message {
  readonly id: string;
  readonly event: RecordedEvent;
  readonly subjectId: string;
}

/** Follows from what it is about, so that a repetition by whatever way has the same `webhook-id`. It tells nothing of how many events there are. */
const messageId = (event: RecordedEvent, subjectId: string): string => `evt_${createHash('sha256').update(`${event.id} ${subjectId}`).digest('base64url').slice(0, 22)}`;

export const messagesOf = (event: RecordedEvent): Message[] => event.subjectIds.map((subjectId) => ({ id: messageId(event, subjectId), event, subjectId }));

export const bodyOf = ({ id, event }: Message, data: object): string =>
  JSON.stringify({ id, type: event.type, created_at: event.createdAt, organization_id: event.organizationId, data });

export async function knownMessages(em: EntityManager, ids: readonly string[]): Promise<Set<string>> {
  const rows = await query<{ id: string }>(em, 'select id from platform.webhook_message where id = any($1)', [ids]);
  return new Set(rows.map(({ id }) => id));
}

export async function insertMessages(em: EntityManager, messages: readonly (Message & { body: string })[]): Promise<void> {
  if (messages.length === 0) return;
  const rows = messages.map(({ id, event, subjectId, body }) => ({ id, event_id: event.id, subject_id: subjectId, type: event.type, body, created_at: event.createdAt }));
  await query(
    em,
    `insert into platform.webhook_message (id, event_id, subject_id, type, body, created_at)
     select id, event_id, subject_id, type, body, created_at
       from jsonb_to_recordset($1::jsonb) as row(id text, event_id bigint, subject_id text, type text, body text, created_at timestamptz)
         on conflict (id) do nothing`,
    [JSON.stringify(rows)],
  );
}

/** What becomes of a delivery that exists already. */
export type Repetition = 'none' | 'if failed' | 'always';

/**
 * Queues messages for webhooks. What waits behind an earlier message of its subject is not looked at before that one's next
 * attempt.
 */
export async function insertDeliveries(em: EntityManager, pairs: readonly { webhookId: string; message: Message }[], repetition: Repetition, now: Date): Promise<void> {
  if (pairs.length === 0) return;
  const rows = pairs.map(({ webhookId, message }) => ({ id: newId('delivery'), webhook_id: webhookId, message_id: message.id, event_id: message.event.id, subject_id: message.subjectId }));
  await query(
    em,
    `insert into platform.webhook_delivery as known (id, webhook_id, message_id, event_id, subject_id, state, next_attempt_at, created_at)
     select id, webhook_id, message_id, event_id, subject_id, 'pending', coalesce((
              select max(earlier.next_attempt_at) from platform.webhook_delivery earlier
               where earlier.webhook_id = row.webhook_id and earlier.subject_id = row.subject_id and earlier.state = 'pending' and earlier.event_id < row.event_id), $2), $2
       from jsonb_to_recordset($1::jsonb) as row(id text, webhook_id text, message_id text, event_id bigint, subject_id text)
         on conflict (message_id, webhook_id) do update set state = 'pending', attempts = 0, next_attempt_at = excluded.next_attempt_at
            where $3 = 'always' or ($3 = 'if failed' and known.state = 'failed')`,
    [JSON.stringify(rows), now, repetition],
  );
}
