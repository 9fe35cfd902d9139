import type { EntityManager } from '@mikro-orm/core';
import { query } from '../database/query.ts';

/** Something that happened to one or more subjects of the same kind in the same place. */
export interface DomainEvent {
  readonly type: string;
  readonly organizationId: string;
  readonly vaultId: string | null;
  readonly workspaceId: string | null;
  readonly subjectIds: readonly string[];
  /** Somebody may be waiting for it: the gateways are told in the same commit. Not for events that come by the thousand a second. */
  readonly isLive?: boolean;
}

/** Where gateways hear of live events; see LiveEvent. */
export const eventChannel = 'platform_event';

/** What a notification says: enough to ask for the rest. Portions keep it below PostgreSQL's 8,000 bytes. */
export interface LiveEvent {
  readonly type: string;
  readonly subject_ids: readonly string[];
}

/** More become several rows, so that whoever works on rows has little in hand at a time. */
const subjectsMax = 100;

/**
 * Records events in the transaction that causes them: they exist exactly when their cause does. Where no webhook listens
 * there is nothing to relay, and nobody looks at the row again.
 */
export async function recordEvents(em: EntityManager, events: readonly DomainEvent[], now: Date): Promise<void> {
  if (events.length === 0) return;
  const rows = events.flatMap((event) =>
    portions(event.subjectIds).map((subjectIds) => ({
      type: event.type,
      organization_id: event.organizationId,
      vault_id: event.vaultId,
      workspace_id: event.workspaceId,
      subject_ids: subjectIds,
      is_live: event.isLive === true,
    })),
  );
  await query(
    em,
    `with row as (select * from jsonb_to_recordset($1::jsonb) as row(type text, organization_id text, vault_id text, workspace_id text, subject_ids text[], is_live boolean)),
          told as (select pg_notify('${eventChannel}', json_build_object('type', type, 'subject_ids', subject_ids)::text) from row where is_live)
     insert into platform.event (type, organization_id, vault_id, workspace_id, subject_ids, created_at, relayed)
     select type, organization_id, vault_id, workspace_id, subject_ids, $2::timestamptz,
            not exists (select from platform.webhook where webhook.organization_id = row.organization_id and state = 'enabled')
       from row where (select count(*) from told) >= 0`,
    [JSON.stringify(rows), now],
  );
}

const portions = (subjectIds: readonly string[]): (readonly string[])[] =>
  Array.from({ length: Math.ceil(subjectIds.length / subjectsMax) }, (_, index) => subjectIds.slice(index * subjectsMax, (index + 1) * subjectsMax));
