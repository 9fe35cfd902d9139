import { setFlagsFromString } from 'node:v8';
import type { EntityClass } from '@mikro-orm/core';
import type { Logger } from 'pino';
import { auditMigration } from './audit/migration.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import { internalRequest } from './context.ts';
import type { Context, Platform } from './context.ts';
import { openDatabase } from './database/database.ts';
import type { Database } from './database/database.ts';
import { migrate } from './database/migrator.ts';
import { exportHandler } from './exports/export-handler.ts';
import { exportsMigration } from './exports/migration.ts';
import { GroupCommit } from './group-commit.ts';
import { housekeeping } from './housekeeping.ts';
import { installJobs } from './jobs/install-jobs.ts';
import type { JobHandler } from './jobs/worker.ts';
import { startJobs } from './jobs/worker.ts';
import { platformMigration } from './migrations/0001-platform.ts';
import { loadSecrets } from './secrets.ts';
import { openSubgraph } from './subgraph/subgraph.ts';
import type { OpenSubgraph, Subgraph } from './subgraph/subgraph.ts';
import { usageMigration } from './usage/migration.ts';
import { webhooksMigration } from './webhooks/migration.ts';
import { startWebhooks } from './webhooks/start-webhooks.ts';

/** What every process of the product opens first, whichever part it plays. */
export interface Process {
  readonly platform: Platform;
  readonly database: Database;
  open(subgraph: Subgraph): Promise<OpenSubgraph>;
  /** Works on the jobs of these subgraphs until stopped. */
  work(open: readonly OpenSubgraph[]): Promise<{ stop(): Promise<void> }>;
  /** Delivers to webhooks until stopped; all areas must be open here, because each renders its own events. */
  deliver(open: readonly OpenSubgraph[], options: { allowPrivate: boolean }): Promise<{ stop(): Promise<void> }>;
  close(): Promise<void>;
}

export async function openProcess(options: { config: Config; logger: Logger; clock: Clock; subgraphs: readonly Subgraph[] }): Promise<Process> {
  const { config, logger, clock, subgraphs } = options;
  boundHeaps();
  const database = await openDatabase({
    url: config.databaseUrl,
    dataDir: config.dataDir,
    entities: subgraphs.flatMap(({ entities }) => entities) as unknown as EntityClass[],
    poolMax: config.databasePoolMax,
    logger,
  });
  await migrate(database, [platformMigration, exportsMigration, webhooksMigration, auditMigration, usageMigration, ...subgraphs.flatMap(({ migrations }) => migrations)]);
  const own = housekeeping(database, config, clock);
  await installJobs(database, [...own, ...subgraphs.flatMap((subgraph) => handlersOf(subgraph, config))].map(({ job }) => job));
  const groupCommit = new GroupCommit({
    fork: () => database.orm.em.fork(),
    logger,
    // The embedded database has one session: more transactions than one would only wait for each other.
    parallel: database.engine === 'embedded' ? 1 : Math.ceil(config.databasePoolMax / 2),
    groupMax: 128,
  });
  const platform: Platform = { config, clock, logger, secrets: await loadSecrets(database), groupCommit, exportAreas: subgraphs.flatMap(({ name, exports }) => (exports ? [name] : [])) };
  return {
    platform,
    database,
    open: (subgraph) => openSubgraph(subgraph, { ...platform, database }),
    work: (open) =>
      startJobs({
        database,
        logger,
        handlers: [...own, ...open.flatMap((one) => handlersOf(one.subgraph, config).map((handler) => bound(handler, one)))],
        makeContext: () => undefined,
      }),
    deliver: (open, { allowPrivate }) => startWebhooks({ platform, database, open, allowPrivate }),
    close: () => database.close(),
  };
}

/**
 * V8 lets garbage grow to three times what is alive, and the young objects of each thread to 100 MB. A third and a quarter of
 * that take 500 MB less under load, at the same speed (bench/store). The second holds for threads that start from now on.
 */
function boundHeaps(): void {
  setFlagsFromString('--heap-growing-percent=100');
  setFlagsFromString('--max-semi-space-size=8');
}

/** A slice's own jobs, and the one that writes its part of a full export. */
const handlersOf = ({ name, jobs, exports }: Subgraph, config: Config): JobHandler<Context<never>>[] =>
  [...jobs(config), ...(exports ? [exportHandler(name, exports)] : [])] as JobHandler<Context<never>>[];

const bound = (handler: JobHandler<Context<never>>, open: OpenSubgraph): JobHandler<undefined> => ({
  ...handler,
  run: (_, inputs, commit) => handler.run(open.contextOf(internalRequest(`job ${handler.job.name}`)) as Context<never>, inputs, commit),
});
