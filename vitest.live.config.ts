import { defineConfig } from 'vitest/config';

/** Against real servers that this project did not write, in containers: `npm run test:live`. */
export default defineConfig({
  test: {
    include: ['test/live/*.test.ts'],
    pool: 'forks',
    maxWorkers: 1,
    reporters: ['default', './test/harness/reporter.ts'],
    globalSetup: ['test/harness/services.ts'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
