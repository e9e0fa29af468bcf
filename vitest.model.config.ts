import { defineConfig } from 'vitest/config';

/** Trials with a real small language model, which is fetched where it is missing: `npm run test:model`. */
export default defineConfig({
  test: {
    include: ['test/model/*.test.ts'],
    pool: 'forks',
    maxWorkers: 1,
    reporters: ['default', './test/harness/reporter.ts'],
    globalSetup: ['test/harness/services.ts'],
    testTimeout: 15 * 60_000,
    hookTimeout: 15 * 60_000,
  },
});
