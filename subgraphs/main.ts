import { pino } from 'pino';
import { systemClock } from '#platform/clock.ts';
import { ConfigError, readConfig } from '#platform/config.ts';
import { openProcess } from '#platform/process.ts';
import { serveSubgraph } from '#platform/subgraph/server.ts';
import { subgraphs } from './register.ts';

/**
 * One part of the product as a process of its own:
 *   --serve <area>   answers the gateway's fetches for that area
 *   --work           does the background work of all areas, and delivers to webhooks
 */
async function start(): Promise<void> {
  const [mode, name] = process.argv.slice(2).filter((argument) => argument !== '--');
  const config = readConfig(process.env);
  const logger = pino({ level: config.logLevel });
  const serves = subgraphs.filter((subgraph) => subgraph.name === name);
  if (mode !== '--work' && !(mode === '--serve' && serves.length === 1)) {
    throw new ConfigError(`Usage: --serve <${subgraphs.map((subgraph) => subgraph.name).join(' | ')}>, or --work.`);
  }
  if (config.databaseUrl === null) throw new ConfigError('DATABASE_URL: the embedded database serves one process; several need PostgreSQL.');

  // Every process knows all areas, so that whoever starts first migrates for all.
  const opened = await openProcess({ config, logger, clock: systemClock, subgraphs });
  const open = await Promise.all((mode === '--work' ? subgraphs : serves).map((subgraph) => opened.open(subgraph)));
  const running = mode === '--work' ? [await opened.work(open), await opened.deliver(open, { allowPrivate: config.webhookAllowPrivate ?? false })] : [await serveSubgraph(open[0]!, opened, config, logger)];
  logger.info({ part: name ?? 'worker' }, 'ready');

  let isStopping = false;
  const stop = async (): Promise<void> => {
    if (isStopping) return;
    isStopping = true;
    await Promise.all(running.map((one) => one.stop()));
    await Promise.all(open.map((one) => one.close()));
    await opened.close();
    logger.info('stopped');
  };
  process.on('SIGTERM', () => void stop());
  process.on('SIGINT', () => void stop());
}

try {
  await start();
} catch (error) {
  console.error(error instanceof ConfigError ? `Cannot start: ${error.message}` : error);
  process.exit(1);
}
