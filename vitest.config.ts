import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: {
    // One copy of graphql: without this, vitest loads its CommonJS and its ES module side by side.
    alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }],
    conditions: ['source'],
  },
  ssr: { resolve: { conditions: ['source'], externalConditions: ['node'] } },
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/soak/**'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
