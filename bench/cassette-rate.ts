import { join } from 'node:path';
import { record } from '../src/client/cassettes/record.ts';
import { run } from '../src/client/run.ts';
import { startWorkerProcess } from '../src/client/worker-process.ts';
import type { RunRequest } from '../src/client/api.ts';
import type { Root } from '../src/worker/root.ts';
import { type Effort, type Figures, rounded } from './figures.ts';
import { cpuMs } from './process-cost.ts';

const SUITE = 'support-desk';
const IN_FLIGHT = 10;

/** The cases of the support desk by their references in worlds, and on cassettes of the same routes, by turns: how many a second, what a worker spends on one, and how many verdicts differ. */
export async function cassetteRate(root: Root, { quick }: Effort): Promise<Figures> {
  const folder = join(root.config.home, 'cassettes');
  await using worker = await startWorkerProcess(root.config);
  const launch = (request: RunRequest) => run(root, request, worker.broken);
  // Makes the worlds as well, and warms the bundle.
  const recorded = await record(root, { suite: SUITE, folder, many: true, concurrency: IN_FLIGHT }, launch);
  const common = { suite: SUITE, agents: ['reference'], trials: quick ? 1 : 5, concurrency: IN_FLIGHT, keep: 'never' } as const;
  const sides = { world: { ...common }, cassette: { ...common, cassettes: { folder } } };
  const sums = { world: { n: 0, seconds: 0, cpu: 0 }, cassette: { n: 0, seconds: 0, cpu: 0 } };
  let differences = 0;
  for (let turn = 0; turn < 2; turn++) {
    for (const side of ['world', 'cassette'] as const) {
      const before = await cpuMs(worker.pid);
      const handle = await launch(sides[side]);
      let startedAt = performance.now();
      for await (const event of handle.events()) if (event.type === 'batch') startedAt = performance.now();
      const summary = await handle.result();
      const sum = sums[side];
      sum.n += summary.trials;
      sum.seconds += (performance.now() - startedAt) / 1000;
      sum.cpu += ((await cpuMs(worker.pid)) ?? Number.NaN) - (before ?? Number.NaN);
      for (const line of summary.cassettes?.differences ?? []) process.stderr.write(`  ${line}\n`);
      differences += summary.cassettes?.differences.length ?? 0;
    }
  }
  const { world, cassette } = sums;
  const cpu = ({ n, cpu: ms }: typeof world) => (Number.isNaN(ms) ? null : rounded(ms / n));
  return {
    cassettes_recorded: recorded.cassettes.filter(({ why }) => why === null).length,
    world_trials_per_s: rounded(world.n / world.seconds),
    cassette_trials_per_s: rounded(cassette.n / cassette.seconds),
    cassette_to_world: rounded(cassette.n / cassette.seconds / (world.n / world.seconds)),
    worker_cpu_ms_per_world_trial: cpu(world),
    worker_cpu_ms_per_cassette_trial: cpu(cassette),
    cassette_verdict_differences: differences,
  };
}
