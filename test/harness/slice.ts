import type { EntityClass } from '@mikro-orm/core';
import { execute, parse } from 'graphql';
import { pino } from 'pino';
import { auditMigration } from '#platform/audit/migration.ts';
import type { Clock } from '#platform/clock.ts';
import { readConfig } from '#platform/config.ts';
import type { Database } from '#platform/database/database.ts';
import { migrate } from '#platform/database/migrator.ts';
import { GroupCommit } from '#platform/group-commit.ts';
import { platformMigration } from '#platform/migrations/0001-platform.ts';
import { internalRequest } from '#platform/context.ts';
import type { Principal } from '#platform/principal.ts';
import { loadSecrets } from '#platform/secrets.ts';
import { maskFaults } from '#platform/subgraph/mask-faults.ts';
import { buildSubgraph } from '#platform/subgraph/schema.ts';
import { openSubgraph } from '#platform/subgraph/subgraph.ts';
import type { Demo, Subgraph } from '#platform/subgraph/subgraph.ts';
import { usageMigration } from '#platform/usage/migration.ts';
import { webhooksMigration } from '#platform/webhooks/migration.ts';
import { openTestDatabase } from '../platform/open-test-database.ts';

const now = new Date('2026-03-01T12:00:00Z');
const clock: Clock = { now: () => now };

/** Members that a test varies; the rest is an ordinary learner of `org_a`. */
export const userOf = (varied: Partial<Principal> = {}): Principal => ({
  kind: 'session',
  credentialId: 'ses_a',
  userId: 'usr_a',
  publisherId: null,
  organizationId: 'org_a',
  plan: 'business',
  organizationRole: null,
  vaultId: 'vlt_a',
  workspaceId: 'wsp_a',
  access: { wsp_a: 'read' },
  scopes: null,
  isServiceAccount: false,
  steppedUpUntilMs: null,
  ...varied,
});

export const adminKey = userOf({ kind: 'api_key', credentialId: 'key_a', userId: null, access: { wsp_a: 'admin' } });

/** When a step-up made a moment ago ends, and one that has just ended: the slice's clock stands still. */
export const steppedUpUntilMs = now.getTime() + 1;
export const steppedUpAndOverMs = now.getTime();

export interface Answer<Data> {
  readonly data: Data | null;
  readonly codes: string[];
  readonly messages: string[];
}

export interface Slice {
  readonly database: Database;
  /** A document through the slice's door, as the gateway sends it. */
  ask<Data>(principal: Principal | null, document: string, variables?: Record<string, unknown>): Promise<Answer<Data>>;
  close(): Promise<void>;
}

/** A slice alone on a database of its own, migrated and with its demo data (asked for twice, which must be the same as once). */
export async function openSlice(subgraph: Subgraph): Promise<Slice> {
  const database = await openTestDatabase([...subgraph.entities] as EntityClass[]);
  const logger = pino({ level: 'warn' });
  await migrate(database, [platformMigration, webhooksMigration, auditMigration, usageMigration, ...subgraph.migrations]);
  const demo: Demo = { organizationId: 'org_a', workspaceIds: ['wsp_a'], users: { learner: { id: 'usr_a', numericId: 1 } }, now };
  for (const _time of [1, 2]) await subgraph.seed?.(database.orm.em.fork(), demo);

  const groupCommit = new GroupCommit({ fork: () => database.orm.em.fork(), logger, parallel: 1, groupMax: 1 });
  const open = await openSubgraph(subgraph, { config: readConfig({}), clock, logger, secrets: await loadSecrets(database), groupCommit, exportAreas: [], database });
  const { schema } = await buildSubgraph(subgraph);
  return {
    database,
    ask: async <Data>(principal: Principal | null, document: string, variables: Record<string, unknown> = {}) => {
      const contextValue = open.contextOf({ ...internalRequest('test'), principal });
      const result = maskFaults(await execute({ schema, document: parse(document), variableValues: variables, contextValue }), contextValue);
      const errors = result.errors ?? [];
      return { data: (result.data ?? null) as Data | null, codes: errors.map(({ extensions }) => String(extensions['code'])), messages: errors.map(({ message }) => message) };
    },
    close: async () => {
      await open.close();
      await database.close();
    },
  };
}
