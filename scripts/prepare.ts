/** Second part of the bootstrap, on Node 24 and with all packages: builds the package and, unless it is for packing (`--package`), provides a Temporal CLI. */
import { build } from './build.ts';

const say = (text: string): void => {
  process.stderr.write(`trialbed: ${text}\n`);
};

await build(say);

const { readSettings } = await import('../src/worker/config.ts');
const { provideTemporalCli } = await import('../src/infra/temporal-fetch.ts');
const { temporal, temporalCli, path, cacheFolder } = readSettings(process.env);
if (temporal === null && !process.argv.includes('--package')) {
  try {
    await provideTemporalCli({ explicit: temporalCli, path, cacheFolder }, say);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    process.exitCode = 3;
  }
}
