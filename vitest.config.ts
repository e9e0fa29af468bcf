import { defineConfig } from 'vitest/config';
import LongFirst from './test/harness/long-first.ts';

export default defineConfig({
  test: {
    include: ['test/*/**/*.test.ts'],
    // Groups of their own, of many minutes: a real language model (`npm run test:model`); real servers (`npm run test:live`); whole data sets, and hundreds of trials (`npm run test:conformance`).
    exclude: ['test/model/**', 'test/live/**', 'test/conformance/**', 'test/chaos/{load,storm,faults-property}.test.ts'],
    // Tests start servers and workers of their own: a process for each file keeps one file's native handles out of the next.
    pool: 'forks',
    maxWorkers: 2,
    sequence: { sequencer: LongFirst },
    reporters: ['default', './test/harness/reporter.ts'],
    globalSetup: ['test/harness/services.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
  },
});
