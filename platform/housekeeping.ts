import { sealAudit } from './audit/seal-audit.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { Database } from './database/database.ts';
import { vacuum } from './database/embedded/vacuum.ts';
import { every } from './jobs/every.ts';
import type { JobHandler } from './jobs/worker.ts';

/** What the platform does for itself: forgets receipts, events and messages past their time, seals the audit log, and keeps the embedded database fit. */
export function housekeeping(database: Database, config: Config, clock: Clock): JobHandler<undefined>[] {
  const before = (seconds: number): Date => new Date(clock.now().getTime() - seconds * 1000);
  const forget = every<undefined>(60, 'platform.forget', async () => {
    await database.execute('delete from platform.idempotency where created_at < $1', [before(config.idempotencyTtlSeconds)]);
    await database.execute('delete from platform.event where created_at < $1', [before(config.eventRetentionSeconds)]);
    // With their deliveries.
    await database.execute('delete from platform.webhook_message where created_at < $1', [before(config.eventRetentionSeconds)]);
  });
  const clean = every<undefined>(30, 'platform.vacuum', () => vacuum(database));
  const seal = every<undefined>(2, 'platform.seal-audit', () => sealAudit(database));
  return (database.engine === 'embedded' ? [forget, seal, clean] : [forget, seal]) as JobHandler<undefined>[];
}
