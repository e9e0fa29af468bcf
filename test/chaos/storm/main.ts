/** `npm run chaos`: see the usage. Exit status 1 when something does not hold, 2 for options that cannot be used. */
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { stormOptions, USAGE } from './options.ts';
import { runStorm } from './storm.ts';
import { story } from './story.ts';

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  let options: ReturnType<typeof stormOptions>;
  try {
    options = stormOptions(args);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    return 2;
  }
  if (options === null) {
    process.stdout.write(USAGE);
    return 0;
  }
  const home = options.home === null ? await mkdtemp(join(tmpdir(), 'trialbed-storm-')) : resolve(options.home);
  await mkdir(home, { recursive: true });
  await chmod(home, 0o755);
  const interrupted = new Promise<never>((_resolve, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => reject(new Error(`interrupted by ${signal}`)));
  });
  interrupted.catch(() => {});
  try {
    const storm = await runStorm(options, home, (line) => process.stderr.write(`${line}\n`), interrupted);
    process.stdout.write(`${story(storm)}\n`);
    if (options.json !== null) await writeFile(options.json, `${JSON.stringify(storm, null, 2)}\n`);
    const reached = storm.missed.length === 0 && storm.kills.length >= options.kills;
    if (!reached) process.stdout.write(`${storm.kills.length} kills of ${options.kills}: not everything was tried\n`);
    return storm.violations.length === 0 && reached ? 0 : 1;
  } finally {
    if (options.home === null) await rm(home, { recursive: true, force: true });
  }
}
