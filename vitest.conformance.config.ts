import { defineConfig, mergeConfig } from 'vitest/config';
import all from './vitest.config.ts';

/** Whole published data sets, and hundreds of trials that must come out alike: `npm run test:conformance`. */
const config = mergeConfig(all, {});
config.test = { ...config.test, include: ['test/conformance/*.test.ts', 'test/chaos/{load,storm,faults-property}.test.ts'], exclude: [] };

export default defineConfig(config);
