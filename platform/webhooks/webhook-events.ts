import type { EntityManager } from '@mikro-orm/core';
import { query } from '../database/query.ts';
import type { RecordedEvent } from './event-renderer.ts';

/** What the platform itself tells of webhooks. */
export const webhookEvents = {
  /** Somebody wants to see whether messages arrive. */
  test: 'webhook.test',
  disabled: 'webhook.disabled',
} as const;

interface Row {
  readonly id: string;
  readonly organization_id: string;
}

/** Webhooks as GET /v1/webhooks/{id} shows them; the platform's own `EventRenderer`. */
export async function renderWebhooks(em: EntityManager, events: readonly RecordedEvent[]): Promise<object[][]> {
  const rows = await query<Row>(
    em,
    'select organization_id, id, url, description, events, scope, state, disabled_reason, failing_since, created_at from platform.webhook where id = any($1)',
    [events.flatMap(({ subjectIds }) => subjectIds)],
  );
  const byId = new Map(rows.map(({ organization_id, ...shown }) => [`${organization_id} ${shown.id}`, shown]));
  return events.map(({ organizationId, subjectIds }) => subjectIds.map((id) => byId.get(`${organizationId} ${id}`) ?? { id, deleted_at: null }));
}
