import { parseArgs } from 'node:util';
import { MeilisearchError } from 'meilisearch';
import { pino } from 'pino';
import { systemClock } from '#platform/clock.ts';
import { ConfigError, readConfig } from '#platform/config.ts';
import type { Config } from '#platform/config.ts';
import { internalRequest } from '#platform/context.ts';
import type { Context } from '#platform/context.ts';
import { openProcess } from '#platform/process.ts';
import { memory } from '../subgraphs/memory/index.ts';
import { rebuildKeywords } from '../subgraphs/memory/operations/rebuild-keywords.ts';
import { rebuildMeilisearch } from '../subgraphs/memory/operations/rebuild-meilisearch.ts';
import { reembed } from '../subgraphs/memory/operations/reembed.ts';
import type { MemoryPorts } from '../subgraphs/memory/ports/ports.ts';
import { subgraphs } from '../subgraphs/register.ts';

const steps = {
  keywords: { what: 'PostgreSQL keyword index', run: rebuildKeywords },
  meilisearch: { what: 'Meilisearch', run: rebuildMeilisearch },
  embeddings: { what: 'objects to embed again', run: reembed },
};
type Step = keyof typeof steps;

/**
 * Rebuilds what is made from the stored contents: --keywords, --meilisearch, --embeddings, or all that apply. The product
 * may run meanwhile on a PostgreSQL server; the embedded database serves one process, so there it must be stopped.
 */
async function reindex(): Promise<void> {
  const config = readConfig(process.env);
  const chosen = chosenSteps(config);
  const logger = pino({ level: config.logLevel });
  const opened = await openProcess({ config, logger, clock: systemClock, subgraphs });
  const open = await opened.open(memory as never);
  try {
    const ctx = open.contextOf(internalRequest('reindex')) as Context<MemoryPorts>;
    for (const step of chosen) {
      const { what, run } = steps[step];
      const startedAt = performance.now();
      await run(ctx, (done, total) => console.log(progressLine(what, done, total, performance.now() - startedAt)));
      console.log(`${what}: done.`);
    }
    if (chosen.includes('embeddings')) console.log('The worker embeds them in the background, on the embedded database when the product is started again.');
  } finally {
    await open.close();
    await opened.close();
  }
}

function chosenSteps({ meiliUrl }: Config): Step[] {
  const usage = `Usage: npm run reindex -- [${Object.keys(steps).map((step) => `--${step}`).join(' | ')}]`;
  let values: Partial<Record<Step, boolean>>;
  try {
    ({ values } = parseArgs({ options: { keywords: { type: 'boolean' }, meilisearch: { type: 'boolean' }, embeddings: { type: 'boolean' } } }));
  } catch (error) {
    throw new ConfigError(`${(error as Error).message}\n${usage}`);
  }
  if (values.meilisearch && meiliUrl === null) throw new ConfigError('--meilisearch needs MEILI_URL.');
  const named = (Object.keys(steps) as Step[]).filter((step) => values[step]);
  return named.length > 0 ? named : (Object.keys(steps) as Step[]).filter((step) => step !== 'meilisearch' || meiliUrl !== null);
}

/** More may have been stored since they were counted. */
function progressLine(what: string, done: number, total: number, elapsedMs: number): string {
  const percent = Math.min(100, Math.floor((100 * done) / Math.max(total, done, 1)));
  return `${what}: ${done} of ${Math.max(total, done)} (${percent} %), ${Math.round((1000 * done) / elapsedMs)} a second`;
}

try {
  await reindex();
} catch (error) {
  console.error(error instanceof ConfigError || error instanceof MeilisearchError ? `Cannot reindex: ${error.message}` : error);
  process.exitCode = 1;
}
