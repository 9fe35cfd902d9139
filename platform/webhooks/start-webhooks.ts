import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Platform } from '../context.ts';
import type { Database } from '../database/database.ts';
import type { GroupRun } from '../group-commit.ts';
import type { OpenSubgraph } from '../subgraph/subgraph.ts';
import { Lane } from './lane.ts';
import { Leases } from './lease.ts';
import { recordOutcomes } from './outcomes.ts';
import type { Outcome } from './outcomes.ts';
import { Relay } from './relay.ts';
import { Sender } from './send.ts';

/** How long an event or a retry waits at most to be noticed: one cheap statement each, and no write, while nothing happens. */
const POLL_MS = 500;
const POLL_AFTER_FAULT_MS = 5_000;
/** How long a stop lets requests end; those cut off are sent again after the next start. */
const STOP_MS = 3_000;

interface WebhooksOptions {
  readonly platform: Platform;
  readonly database: Database;
  /** All slices of the installation: each renders its own events. */
  readonly open: readonly OpenSubgraph[];
  readonly allowPrivate: boolean;
}

/** Relays events and delivers messages until stopped. Several processes may do so: they share the webhooks among them. */
export async function startWebhooks({ platform, database, open, allowPrivate }: WebhooksOptions): Promise<{ stop(): Promise<void> }> {
  const { config, clock, logger, groupCommit } = platform;
  const timeoutMs = config.webhookTimeoutSeconds * 1000;
  const owner = randomUUID();
  const stopping = new AbortController();
  const aborting = new AbortController();
  const leases = new Leases({ database, clock, owner, timeoutMs });
  const sender = new Sender({ timeoutMs, allowPrivate });
  const record: GroupRun<Outcome> = async (em, outcomes) => {
    await recordOutcomes(em, outcomes, config);
    return outcomes.map(() => undefined);
  };
  const options = { database, clock, sender, perSecond: config.webhookDeliveriesPerSecond, record: (outcome: Outcome) => groupCommit.run(record, outcome) };

  // A lane that has nothing to do keeps its memory of the last second for as long as its lease.
  const lanes = new Map<string, Lane>();
  const running = new Map<string, Promise<void>>();
  let prolongAtMs = 0;

  const run = (id: string, lane: Lane): void => {
    const ended = lane
      .run(stopping.signal, aborting.signal)
      .catch((error: unknown) => {
        if (!stopping.signal.aborted) logger.error({ err: error, webhook: id }, 'deliveries to a webhook broke off; they go on shortly');
      })
      .finally(() => running.delete(id));
    running.set(id, ended);
  };

  const lease = async (ids: readonly string[]): Promise<ReadonlySet<string>> => {
    const taken = await leases.take(ids);
    for (const id of taken.ids) {
      const lane = lanes.get(id) ?? new Lane(id, owner, options);
      lane.leasedUntilMs = taken.untilMs;
      lanes.set(id, lane);
    }
    return taken.ids;
  };

  const dispatch = async (): Promise<boolean> => {
    for (const [id, lane] of lanes) if (!lane.isLeased && !running.has(id)) lanes.delete(id);
    if (running.size > 0 && performance.now() >= prolongAtMs) {
      await lease([...running.keys()]);
      prolongAtMs = performance.now() + PROLONG_MS;
    }
    const due = await leases.due([...running.keys()]);
    if (due.length === 0) return false;
    for (const id of await lease(due)) run(id, lanes.get(id)!);
    return false;
  };

  await leases.releaseOrphans();
  const relay = new Relay({ database, clock, open });
  const loops = [repeat(() => relay.run(), 'relaying events to webhooks'), repeat(dispatch, 'delivering to webhooks')];

  async function repeat(work: () => Promise<boolean>, what: string): Promise<void> {
    while (!stopping.signal.aborted) {
      let pauseMs = POLL_MS;
      try {
        if (await work()) continue;
      } catch (error) {
        logger.error({ err: error }, `${what} failed; trying again`);
        pauseMs = POLL_AFTER_FAULT_MS;
      }
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  return {
    async stop() {
      stopping.abort();
      const abort = setTimeout(() => aborting.abort(), STOP_MS);
      await Promise.all([...loops, ...running.values()]);
      clearTimeout(abort);
      await leases.release();
      await sender.close();
    },
  };
}

/** Well before the margin that a lease leaves for beginning requests. */
const PROLONG_MS = 3_000;
