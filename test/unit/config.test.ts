import { expect, it } from 'vitest';
import { ConfigError, readConfig } from '#platform/config.ts';

it('gives every setting the default of the contract', () => {
  expect(readConfig({})).toMatchObject({
    host: '127.0.0.1',
    port: 4000,
    dataDir: '.data',
    databaseUrl: null,
    seedDemo: true,
    cursorTtlSeconds: 86_400,
    idempotencyTtlSeconds: 86_400,
    memorySweepSeconds: 5,
    vaultRetentionSeconds: 2_592_000,
  });
});

it('counts an empty variable as absent', () => {
  expect(readConfig({ DATABASE_URL: '', PORT: '' })).toEqual(readConfig({}));
});

it.each([
  [{ PORT: '70000' }, 'PORT'],
  [{ SEED_DEMO: 'maybe' }, 'SEED_DEMO'],
  [{ DATABASE_URL: 'mysql://x' }, 'DATABASE_URL'],
  [{ TLS_CERT: 'a.pem' }, 'TLS_KEY'],
  [{ HOST: '0.0.0.0' }, 'TRUST_PROXY'],
  [{ EMBEDDER: 'openai' }, 'EMBEDDER_URL'],
  [{ SUBGRAPH_URLS: 'memory=nowhere' }, 'SUBGRAPH_URLS'],
  [{ INTERNAL_SECRET: 'short' }, 'INTERNAL_SECRET'],
])('refuses %o and names %s', (env, name) => {
  expect(() => readConfig(env)).toThrow(ConfigError);
  expect(() => readConfig(env)).toThrow(name);
});

it('names every fault at once', () => {
  expect(() => readConfig({ PORT: 'x', LOG_LEVEL: 'loud' })).toThrow(/PORT[\s\S]*LOG_LEVEL/);
});

it('reads the addresses of subgraphs', () => {
  expect(readConfig({ SUBGRAPH_URLS: 'memory=http://a:1/graphql,growth=http://b:2/graphql' }).subgraphUrls).toEqual({ memory: 'http://a:1/graphql', growth: 'http://b:2/graphql' });
});
