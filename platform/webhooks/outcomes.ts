import type { EntityManager } from '@mikro-orm/core';
import type { Config } from '../config.ts';
import { query } from '../database/query.ts';
import { recordEvents } from '../outbox/record-events.ts';
import type { Attempt } from './send.ts';
import { DeliveryState, DisabledReason } from './webhook.ts';
import { webhookEvents } from './webhook-events.ts';

/** What a lane tells after an attempt. */
export interface Outcome {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly subjectId: string;
  readonly eventId: number;
  /** With this one. */
  readonly attempts: number;
  readonly attempt: Attempt;
  readonly at: Date;
}

const GONE = 410;
/** Retries of many deliveries that failed together spread out a little; never before their time. */
const jitterMax = 0.05;

/** Writes down what many attempts came to, with a fixed number of statements. */
export async function recordOutcomes(em: EntityManager, outcomes: readonly Outcome[], config: Config): Promise<void> {
  const judged = outcomes.map((outcome) => ({ ...outcome, ...judge(outcome, config) }));
  await query(
    em,
    `update platform.webhook_delivery delivery
        set state = made.state, attempts = made.attempts, next_attempt_at = made.next_attempt_at, last_status = made.status, last_error = made.error,
            response_ms = made.response_ms, delivered_at = case when made.state = 'delivered' then made.at else delivered_at end
       from jsonb_to_recordset($1::jsonb) as made(id text, state text, attempts int, next_attempt_at timestamptz, status int, error text, response_ms int, at timestamptz)
      where delivery.id = made.id and delivery.state = 'pending'`,
    [JSON.stringify(judged.map(({ deliveryId, state, attempts, nextAttemptAt, attempt, at }) => ({ id: deliveryId, state, attempts, next_attempt_at: nextAttemptAt, status: attempt.status, error: attempt.error, response_ms: attempt.responseMs, at })))],
  );
  await postponeSuccessors(em, judged);
  await judgeWebhooks(em, judged, config);
}

interface Judged extends Outcome {
  readonly state: DeliveryState;
  readonly nextAttemptAt: Date | null;
}

function judge({ attempt, attempts, at }: Outcome, { webhookRetrySeconds }: Config): Pick<Judged, 'state' | 'nextAttemptAt'> {
  if (attempt.error === null) return { state: DeliveryState.DELIVERED, nextAttemptAt: null };
  const pause = webhookRetrySeconds[attempts - 1];
  if (pause === undefined || attempt.status === GONE) return { state: DeliveryState.FAILED, nextAttemptAt: null };
  return { state: DeliveryState.PENDING, nextAttemptAt: new Date(at.getTime() + pause * 1000 * (1 + Math.random() * jitterMax)) };
}

/** They could not go before it anyway; so nobody looks at them until then. */
async function postponeSuccessors(em: EntityManager, judged: readonly Judged[]): Promise<void> {
  const retried = judged.filter(({ nextAttemptAt }) => nextAttemptAt !== null);
  if (retried.length === 0) return;
  await query(
    em,
    `update platform.webhook_delivery later set next_attempt_at = retried.next_attempt_at
       from jsonb_to_recordset($1::jsonb) as retried(webhook_id text, subject_id text, event_id bigint, next_attempt_at timestamptz)
      where later.webhook_id = retried.webhook_id and later.subject_id = retried.subject_id and later.state = 'pending'
        and later.event_id > retried.event_id and later.next_attempt_at < retried.next_attempt_at`,
    [JSON.stringify(retried.map(({ webhookId, subjectId, eventId, nextAttemptAt }) => ({ webhook_id: webhookId, subject_id: subjectId, event_id: eventId, next_attempt_at: nextAttemptAt })))],
  );
}

/** Remembers since when a webhook has been failing, and gives up those that are gone or failed for too long. */
async function judgeWebhooks(em: EntityManager, judged: readonly Judged[], { webhookDisableSeconds }: Config): Promise<void> {
  const idsOf = (some: readonly Judged[]): string[] => [...new Set(some.map(({ webhookId }) => webhookId))];
  const successes = idsOf(judged.filter(({ attempt }) => attempt.error === null));
  const failures = idsOf(judged.filter(({ attempt }) => attempt.error !== null)).filter((id) => !successes.includes(id));
  const gone = idsOf(judged.filter(({ attempt }) => attempt.status === GONE));
  const now = judged.at(-1)!.at;
  if (successes.length > 0) await query(em, 'update platform.webhook set failing_since = null where id = any($1) and failing_since is not null', [successes]);
  if (failures.length === 0 && gone.length === 0) return;
  await query(em, 'update platform.webhook set failing_since = $2 where id = any($1) and failing_since is null', [failures, now]);
  const disabled = await query<{ id: string; organization_id: string; vault_id: string | null; workspace_id: string | null }>(
    em,
    `update platform.webhook set state = 'disabled', disabled_reason = case when id = any($2) then '${DisabledReason.GONE}' else '${DisabledReason.FAILING}' end
      where state = 'enabled' and (id = any($2) or (id = any($1) and failing_since <= $3))
      returning id, organization_id, vault_id, workspace_id`,
    [failures, gone, new Date(now.getTime() - webhookDisableSeconds * 1000)],
  );
  const events = disabled.map((webhook) => ({ type: webhookEvents.disabled, organizationId: webhook.organization_id, vaultId: webhook.vault_id, workspaceId: webhook.workspace_id, subjectIds: [webhook.id] }));
  await recordEvents(em, events, now);
}
