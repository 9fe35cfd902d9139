import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: {
    // One copy of graphql: without this, vitest loads its CommonJS and its ES module side by side.
    alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }],
    conditions: ['source'],
  },
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    // To end what hangs; a promise about time is an assertion of its own. Some machines are five times as slow as others.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    maxWorkers: 2,
    projects: [
      { extends: true, test: { name: 'inside', include: ['test/**/*.test.ts'], exclude: ['test/contract/**', 'test/soak/**'], globalSetup: ['test/empty-database.ts'] } },
      // Through HTTP, against the built product.
      { extends: true, test: { name: 'contract', include: ['test/contract/**/*.test.ts'], globalSetup: ['test/global-setup.ts'] } },
      {
        extends: true,
        test: {
          name: 'soak',
          include: ['test/soak/**/*.test.ts', 'test/contract/properties.test.ts'],
          globalSetup: ['test/global-setup.ts'],
          env: { PROPERTY_RUNS: '1000' },
          testTimeout: 1_800_000,
        },
      },
    ],
  },
});
