import type { EntityManager } from '@mikro-orm/core';
import { internalRequest } from '../context.ts';
import type { Database } from '../database/database.ts';
import { query } from '../database/query.ts';
import { transaction } from '../database/transaction.ts';
import type { Clock } from '../clock.ts';
import type { OpenSubgraph } from '../subgraph/subgraph.ts';
import type { EventRenderer, RecordedEvent } from './event-renderer.ts';
import { everyEvent } from './event-names.ts';
import { bodyOf, insertDeliveries, insertMessages, knownMessages, messagesOf } from './messages.ts';
import type { Message, Repetition } from './messages.ts';
import { renderWebhooks, webhookEvents } from './webhook-events.ts';
import { WebhookScope } from './webhook.ts';

/** So much in one transaction: nobody waits long for the database. An event has at most 100 subjects. */
const eventsMax = 200;
const subjectsMax = 500;

/** Any number, as long as nobody else uses it: "relay" in ASCII. */
const LOCK = 0x72_65_6c_61_79;

interface Listener {
  readonly id: string;
  readonly organization_id: string;
  readonly scope: WebhookScope;
  readonly vault_id: string | null;
  readonly workspace_id: string | null;
  readonly events: readonly string[];
}

interface Replay {
  readonly id: number;
  readonly webhook_id: string;
  readonly is_all: boolean;
  readonly done_at: Date;
  readonly done_id: number;
  readonly until_id: number;
}

type Render = (em: EntityManager, events: readonly RecordedEvent[]) => Promise<readonly (readonly object[])[]>;

/**
 * Turns recorded events into messages and deliveries, in the transaction that marks the events. One process at a time does
 * it, in the order of the events' ids: an event about a subject is recorded under the subject's lock, so ids are in the
 * order in which things happened to it.
 */
export class Relay {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #renderers = new Map<string, Render>();

  constructor({ database, clock, open }: { database: Database; clock: Clock; open: readonly OpenSubgraph[] }) {
    this.#database = database;
    this.#clock = clock;
    this.#renderers.set(webhookEvents.disabled, renderWebhooks);
    for (const one of open) {
      for (const renderer of one.subgraph.events ?? []) for (const type of renderer.types) this.#renderers.set(type, renderIn(one, renderer));
    }
  }

  /** One portion; answers whether there is more. While nothing happens it is one look at two empty indexes. */
  async run(): Promise<boolean> {
    const em = this.#database.orm.em.fork();
    const [look] = await query<{ waiting: boolean }>(em, 'select exists (select from platform.event where not relayed) or exists (select from platform.webhook_replay) as waiting');
    if (!look!.waiting) return false;
    return transaction(em, async (tx) => {
      const [lock] = await query<{ mine: boolean }>(tx, 'select pg_try_advisory_xact_lock($1) as mine', [LOCK]);
      return lock!.mine && ((await this.#relayEvents(tx)) || (await this.#advanceReplay(tx)));
    });
  }

  async #relayEvents(em: EntityManager): Promise<boolean> {
    const events = upToSubjects(await query<RecordedEvent>(em, `select ${eventColumns} from platform.event where not relayed order by id limit ${eventsMax}`));
    if (events.length === 0) return false;
    const listeners = Map.groupBy(await this.#listeners(em, events), ({ organization_id }) => organization_id);
    const heard = events.map((event) => ({ event, by: (listeners.get(event.organizationId) ?? []).filter((listener) => hears(listener, event)) }));
    await this.#queue(em, heard, 'none');
    await query(em, 'update platform.event set relayed = true where id = any($1)', [events.map(({ id }) => id)]);
    return true;
  }

  #listeners(em: EntityManager, events: readonly RecordedEvent[]): Promise<Listener[]> {
    return query(em, `select ${listenerColumns} from platform.webhook where organization_id = any($1) and state = 'enabled'`, [[...new Set(events.map(({ organizationId }) => organizationId))]]);
  }

  /** A replay walks the events by their times; the deliveries it makes go out in the order of ids all the same. */
  async #advanceReplay(em: EntityManager): Promise<boolean> {
    const [replay] = await query<Replay>(em, 'select id, webhook_id, is_all, done_at, done_id, until_id from platform.webhook_replay order by id limit 1');
    if (replay === undefined) return false;
    const [listener] = await query<Listener>(em, `select ${listenerColumns} from platform.webhook where id = $1`, [replay.webhook_id]);
    const events = upToSubjects(
      await query<RecordedEvent>(
        em,
        `select ${eventColumns} from platform.event
          where organization_id = $1 and created_at >= $2 and (created_at > $2 or id > $3) and id <= $4 order by created_at, id limit ${eventsMax}`,
        [listener!.organization_id, replay.done_at, replay.done_id, replay.until_id],
      ),
    );
    const heard = events.filter((event) => hears(listener!, event)).map((event) => ({ event, by: [listener!] }));
    await this.#queue(em, heard, replay.is_all ? 'always' : 'if failed');
    const last = events.at(-1);
    if (last === undefined) await query(em, 'delete from platform.webhook_replay where id = $1', [replay.id]);
    else await query(em, 'update platform.webhook_replay set done_at = $2, done_id = $3 where id = $1', [replay.id, last.createdAt, last.id]);
    return true;
  }

  async #queue(em: EntityManager, heard: readonly { event: RecordedEvent; by: readonly Listener[] }[], repetition: Repetition): Promise<void> {
    const listening = heard.filter(({ by }) => by.length > 0);
    if (listening.length === 0) return;
    const messages = listening.map(({ event }) => messagesOf(event));
    const known = await knownMessages(em, messages.flat().map(({ id }) => id));
    const fresh = messages.filter((ofEvent) => ofEvent.some(({ id }) => !known.has(id)));
    await insertMessages(em, await this.#written(em, fresh));
    const pairs = listening.flatMap(({ by }, index) => by.flatMap(({ id }) => messages[index]!.map((message) => ({ webhookId: id, message }))));
    await insertDeliveries(em, pairs, repetition, this.#clock.now());
  }

  /** Messages with their bodies; all events that one slice renders are rendered together. */
  async #written(em: EntityManager, messages: readonly (readonly Message[])[]): Promise<(Message & { body: string })[]> {
    const written: (Message & { body: string })[] = [];
    for (const [render, group] of Map.groupBy(messages, (ofEvent) => this.#renderers.get(ofEvent[0]!.event.type) ?? renderIds)) {
      const data = await render(em, group.map((ofEvent) => ofEvent[0]!.event));
      group.forEach((ofEvent, index) => ofEvent.forEach((message, position) => written.push({ ...message, body: bodyOf(message, data[index]![position]!) })));
    }
    return written;
  }
}

const eventColumns = `id, type, organization_id as "organizationId", vault_id as "vaultId", workspace_id as "workspaceId", subject_ids as "subjectIds", created_at as "createdAt"`;
const listenerColumns = 'id, organization_id, scope, vault_id, workspace_id, events';

/** At least one event, and no more after it than keep the transaction small. */
function upToSubjects(events: readonly RecordedEvent[]): RecordedEvent[] {
  let subjects = 0;
  const end = events.findIndex(({ subjectIds }) => (subjects += subjectIds.length) > subjectsMax);
  return events.slice(0, end === -1 ? events.length : Math.max(end, 1));
}

/** A test is queued where it is asked for, and never replayed. */
function hears(listener: Listener, event: RecordedEvent): boolean {
  if (event.type === webhookEvents.test) return false;
  return isInScope(listener, event) && (listener.events.includes(everyEvent) || listener.events.includes(event.type));
}

function isInScope({ scope, vault_id, workspace_id }: Listener, event: RecordedEvent): boolean {
  switch (scope) {
    case WebhookScope.ORGANIZATION:
      return true;
    case WebhookScope.VAULT:
      return event.vaultId === vault_id;
    case WebhookScope.WORKSPACE:
      return event.workspaceId === workspace_id;
  }
}

/** For types that this version does not know yet, or no more. */
const renderIds: Render = async (_em, events) => events.map(({ subjectIds }) => subjectIds.map((id) => ({ id })));

/** In the relay's transaction: what is rendered is what its events were recorded with, or later. */
const renderIn = (open: OpenSubgraph, renderer: EventRenderer): Render => (em, events) => renderer.render({ ...open.contextOf(internalRequest('webhooks')), em }, events);
