import type { GraphQLDataSource } from '@apollo/gateway';
import type { Logger } from 'pino';
import { Pool } from 'undici';
import type { Clock } from '#platform/clock.ts';
import { closeHttp } from '#platform/close-http.ts';
import { ConfigError } from '#platform/config.ts';
import type { Config } from '#platform/config.ts';
import { hasReceipt } from '#platform/idempotency.ts';
import { openProcess } from '#platform/process.ts';
import { buildSubgraph } from '#platform/subgraph/schema.ts';
import type { Subgraph } from '#platform/subgraph/subgraph.ts';
import { allowsPrivateTargets } from '#platform/webhooks/target.ts';
import { mountDocs } from './docs.ts';
import { mountDownload } from './download.ts';
import { mountGraphql } from './graphql.ts';
import { createHttp } from './http.ts';
import { createAuthenticator } from './identity/authenticate.ts';
import { identityChannel } from './identity/identity-changed.ts';
import { identity } from './identity/index.ts';
import { databasePart, mountOperational } from './operational.ts';
import type { Part } from './operational.ts';
import { mountOauth } from './oauth/mount.ts';
import { signingKeyOf } from './oauth/signing-key.ts';
import { createPipeline } from './pipeline.ts';
import { openLimiter } from './rate-limits/open-limiter.ts';
import { RequestQuota } from './rate-limits/request-quota.ts';
import { startRedirect } from './redirect.ts';
import { mountRest } from './rest/mount.ts';
import { routes } from './rest/routes/register.ts';
import { seedFirstStart } from './seed/seed-first-start.ts';
import { mountLive } from './subscriptions/mount-live.ts';
import type { Live } from './subscriptions/mount-live.ts';
import { LocalSource } from './supergraph/local-source.ts';
import { RemoteSource } from './supergraph/remote-source.ts';
import { loadSupergraph } from './supergraph/supergraph.ts';

export interface GatewayOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly subgraphs: readonly Subgraph[];
  /** The subgraphs and their jobs run as services of their own. */
  readonly isRemote: boolean;
}

/** Opens the process, joins the subgraphs to one graph, mounts the entrances, listens. */
export async function startGateway({ config, logger, clock, subgraphs, isRemote }: GatewayOptions): Promise<{ url: string; stop(): Promise<void> }> {
  // First, because the file of its figures may be at fault.
  const limiter = await openLimiter(config, clock, logger);
  const opened = await openProcess({ config, logger, clock, subgraphs: [identity, ...subgraphs] });
  const { database } = opened;
  const stopping: (() => Promise<unknown>)[] = [() => opened.close()];

  const local = await Promise.all((isRemote ? [identity] : [identity, ...subgraphs]).map((subgraph) => opened.open(subgraph)));
  stopping.push(() => Promise.all(local.map((one) => one.close())));
  const sources: Record<string, GraphQLDataSource> = {};
  for (const one of local) sources[one.subgraph.name] = new LocalSource((await buildSubgraph(one.subgraph)).schema, one);
  const remote = isRemote ? remoteSources(subgraphs, config, clock) : {};
  stopping.push(() => Promise.all(Object.values(remote).map((source) => source.close())));
  const supergraph = await loadSupergraph({ ...sources, ...remote }, logger);
  stopping.push(() => supergraph.stop());

  let url = '';
  const issuer = (): string => config.baseUrl ?? url;
  const key = signingKeyOf(opened.platform.secrets.oauth);
  const authenticator = createAuthenticator(database, clock, config, { issuer, publicKey: key.publicKey });
  const unlisten = await database.listen(identityChannel, () => authenticator.forget());
  stopping.push(unlisten);

  stopping.push(async () => limiter?.close());
  const fork = () => database.orm.em.fork();
  const quota = config.quotaRequestsPerMonth === null ? null : new RequestQuota({ max: config.quotaRequestsPerMonth, fork, clock, logger });
  stopping.push(async () => quota?.close());
  const isRepeat = (organizationId: string, key: string) => hasReceipt(fork(), { organizationId, key }, new Date(clock.now().getTime() - config.idempotencyTtlSeconds * 1000));
  const pipeline = createPipeline({ authenticator, limiter, quota, isRepeat });
  const http = createHttp(config, logger, pipeline.countUnreadable);
  pipeline.mount(http);
  let isSeeded = false;
  const seeded: Part = {
    name: 'start',
    check: async () => {
      if (!isSeeded) throw new Error('the first start is making the demo organization');
    },
  };
  const parts: Part[] = [databasePart(database), seeded, ...Object.entries(remote).map(([name, source]) => ({ name, check: () => source.check() }))];
  let live: Live | null = null;
  mountOperational(http, config, parts, () => live?.counts() ?? { connections: 0, subscriptions: 0 });
  mountDocs(http, routes);
  mountRest(http, routes, supergraph, pipeline, config);
  mountDownload(http, opened, config);
  mountOauth(http, { config, issuer, key, onRevoked: () => authenticator.forget(), pipeline, contextOf: (request) => local[0]!.contextOf(request) });
  const apollo = await mountGraphql(http, supergraph, pipeline, config);
  stopping.push(() => apollo.stop());

  // Identity's jobs too: a worker knows the areas alone.
  const worker = await opened.work(local);
  stopping.push(() => worker.stop());
  if (!isRemote) {
    const deliveries = await opened.deliver(local, { allowPrivate: allowsPrivateTargets(config) });
    stopping.push(() => deliveries.stop());
  }
  // Last in, first out: nobody new comes in, what is in hand ends, then its ground is taken away.
  await http.listen({ host: config.host, port: config.port });
  stopping.push(() => closeHttp(http));
  const mounted = (live = await mountLive(http, { supergraph, subgraphs, pipeline, database, config }));
  stopping.push(() => mounted.stop());
  const { port } = http.server.address() as { port: number };
  url = `${config.tlsCert === null ? 'http' : 'https'}://${config.host}:${port}`;
  if (config.httpRedirectPort !== null) {
    const redirect = await startRedirect(config.host, config.httpRedirectPort, port);
    stopping.push(() => new Promise((resolve) => redirect.close(resolve)));
  }
  await seedFirstStart({ opened, subgraphs: [identity, ...subgraphs], url, config });
  isSeeded = true;
  logger.info({ url, database: database.engine }, 'ready');

  return {
    url,
    stop: async () => {
      for (const stop of stopping.reverse()) await stop();
    },
  };
}

function remoteSources(subgraphs: readonly Subgraph[], config: Config, clock: Clock): Record<string, RemoteSource> {
  if (config.internalSecret === null) throw new ConfigError('INTERNAL_SECRET: remote subgraphs need it, the same in every process.');
  const secret = config.internalSecret;
  return Object.fromEntries(
    subgraphs.map(({ name }) => {
      const address = config.subgraphUrls[name];
      if (address === undefined) throw new ConfigError(`SUBGRAPH_URLS: names no address for ${name}.`);
      const { origin, pathname } = new URL(address);
      return [name, new RemoteSource({ name, path: pathname, secret, clock, pool: new Pool(origin, { connections: 64, headersTimeout: 60_000 }) })];
    }),
  );
}

