import { pino } from 'pino';
import { systemClock } from '#platform/clock.ts';
import { ConfigError, readConfig } from '#platform/config.ts';

// Read once by @apollo/gateway when it is constructed.
process.env.APOLLO_TELEMETRY_DISABLED ??= 'true';

try {
  const config = readConfig(process.env);
  const logger = pino({ level: config.logLevel });
  // The product itself, which takes a second to load, only once the configuration is known to be good.
  const [{ startGateway }, { subgraphs }] = await Promise.all([import('./gateway.ts'), import('../subgraphs/register.ts')]);
  const gateway = await startGateway({ config, logger, clock: systemClock, subgraphs, isRemote: process.argv.includes('--remote') });
  let isStopping = false;
  const stop = async (signal: string): Promise<void> => {
    if (isStopping) return;
    isStopping = true;
    logger.info({ signal }, 'stopping: finishing what is in hand');
    await gateway.stop();
    logger.info('stopped');
  };
  process.on('SIGTERM', (signal) => void stop(signal));
  process.on('SIGINT', (signal) => void stop(signal));
} catch (error) {
  console.error(error instanceof ConfigError ? `Cannot start: the configuration is not valid.\n${error.message}` : error);
  process.exitCode = 1;
  // A failed start must not hang on what it had opened.
  setImmediate(() => process.exit());
}
