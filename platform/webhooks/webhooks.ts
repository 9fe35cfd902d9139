import type { EntityManager } from '@mikro-orm/core';
import { query } from '../database/query.ts';
import type { ListSource } from '../page.ts';
import type { Principal } from '../principal.ts';
import { isArchitect, workspacesWith } from '../principal.ts';
import type { Webhook, WebhookScope } from './webhook.ts';
import { DisabledReason, WebhookState } from './webhook.ts';

/** More would make every event of an organization expensive. */
export const webhooksMax = 100;

export interface NewWebhook extends Pick<Webhook, 'id' | 'url' | 'description' | 'events'> {
  readonly organizationId: string;
  readonly scope: WebhookScope;
  readonly vaultId: string | null;
  readonly workspaceId: string | null;
  readonly secret: Buffer;
  readonly createdBy: string;
  readonly createdAt: Date;
}

/** Whose is it to manage: an Architect's all of the organization, an admin key's those of its vault, an Admin's those of the workspace. */
const isManaged = `organization_id = $1 and ($2 or (scope = 'vault' and vault_id = $3) or (scope = 'workspace' and workspace_id = any($4)))`;

const managerOf = (principal: Principal): unknown[] => [
  principal.organizationId,
  isArchitect(principal),
  principal.kind === 'api_key' ? principal.vaultId : null,
  workspacesWith(principal, 'admin'),
];

const columns = 'id, url, description, events, scope, state, disabled_reason, failing_since, created_at';

interface Row extends Pick<Webhook, 'id' | 'url' | 'description' | 'events' | 'scope' | 'state'> {
  readonly disabled_reason: DisabledReason | null;
  readonly failing_since: Date | null;
  readonly created_at: Date;
}

const webhookOf = ({ disabled_reason: disabledReason, failing_since: failingSince, created_at: createdAt, ...rest }: Row): Webhook => ({
  ...rest,
  disabledReason,
  failingSince: failingSince?.toISOString() ?? null,
  createdAt: createdAt.toISOString(),
});

/** Null: the organization has as many as it may. Those who create at the same time wait for each other, so that it never has more. */
export async function insertWebhook(em: EntityManager, webhook: NewWebhook): Promise<Webhook | null> {
  await query(em, `select pg_advisory_xact_lock(hashtextextended('webhooks of ' || $1, 0))`, [webhook.organizationId]);
  const [row] = await query<Row>(
    em,
    `insert into platform.webhook (id, organization_id, scope, vault_id, workspace_id, url, description, events, state, secret, created_by, created_at)
     select $1, $2, $3, $4, $5, $6, $7, $8, '${WebhookState.ENABLED}', $9, $10, $11 where (select count(*) from platform.webhook where organization_id = $2) < ${webhooksMax}
     returning ${columns}`,
    [
      webhook.id, webhook.organizationId, webhook.scope, webhook.vaultId, webhook.workspaceId, webhook.url, webhook.description, webhook.events,
      webhook.secret, webhook.createdBy, webhook.createdAt,
    ],
  );
  return row === undefined ? null : webhookOf(row);
}

export async function findWebhook(em: EntityManager, principal: Principal, id: string): Promise<Webhook | null> {
  const [row] = await query<Row>(em, `select ${columns} from platform.webhook where ${isManaged} and id = $5`, [...managerOf(principal), id]);
  return row === undefined ? null : webhookOf(row);
}

/** Newest first; see `ListSource.fetch`. */
export const webhookSource = (em: EntityManager, principal: Principal): ListSource<Webhook> => ({
  keyOf: ({ id }) => id,
  async fetch({ key, operator, order, take }) {
    const side = key === null ? '' : `and id ${operator} $6`;
    const rows = await query<Row>(em, `select ${columns} from platform.webhook where ${isManaged} ${side} order by id ${order} limit $5`, [...managerOf(principal), take, ...(key === null ? [] : [key])]);
    return rows.map(webhookOf);
  },
  async total() {
    const [row] = await query<{ count: number }>(em, `select count(*) as count from platform.webhook where ${isManaged}`, managerOf(principal));
    return row!.count;
  },
});

export type WebhookPatch = { readonly [Field in 'url' | 'description' | 'events' | 'state']?: Webhook[Field] | undefined };

/** Enabled again it is as if it had never failed. */
export async function changeWebhook(em: EntityManager, principal: Principal, id: string, patch: WebhookPatch): Promise<Webhook | null> {
  const [row] = await query<Row>(
    em,
    `update platform.webhook
        set url = coalesce($6, url), events = coalesce($7::text[], events), description = case when $8 then $9 else description end, state = coalesce($10, state),
            disabled_reason = case $10 when '${WebhookState.ENABLED}' then null when '${WebhookState.DISABLED}' then coalesce(disabled_reason, '${DisabledReason.OWNER}') else disabled_reason end,
            failing_since = case when $10 = '${WebhookState.ENABLED}' then null else failing_since end
      where ${isManaged} and id = $5 returning ${columns}`,
    [...managerOf(principal), id, patch.url ?? null, patch.events ?? null, patch.description !== undefined, patch.description ?? null, patch.state ?? null],
  );
  return row === undefined ? null : webhookOf(row);
}

/** With its deliveries. Whether there was one. */
export async function removeWebhook(em: EntityManager, principal: Principal, id: string): Promise<boolean> {
  const rows = await query(em, `delete from platform.webhook where ${isManaged} and id = $5 returning id`, [...managerOf(principal), id]);
  return rows.length > 0;
}

/** The old secret signs beside the new one for a while; one that was still signing beside it signs no more. */
export async function rotateSecret(em: EntityManager, principal: Principal, id: string, secret: Buffer, oldUntil: Date): Promise<boolean> {
  const rows = await query(
    em,
    `update platform.webhook set secret = $6, old_secret = secret, old_secret_until = $7 where ${isManaged} and id = $5 returning id`,
    [...managerOf(principal), id, secret, oldUntil],
  );
  return rows.length > 0;
}
