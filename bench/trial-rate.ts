import { run } from '../src/client/run.ts';
import { startWorkerProcess } from '../src/client/worker-process.ts';
import { status } from '../src/infra/services.ts';
import type { Root } from '../src/worker/root.ts';
import { BARE_QUEUE, startBareWorker } from './bare-worker.ts';
import { CALLS, eightCalls } from './eight-calls.ts';
import { CONCURRENCIES, type Effort, type Figures, inLanes, quantile, rounded, timed } from './figures.ts';
import { cpuMs, residentMb } from './process-cost.ts';

/** How many of each kind are measured at a concurrency, in two slices of each that take turns. */
const COUNTS: { readonly [concurrency: number]: number } = { 1: 16, 10: 80, 50: 300, 100: 400 };

/**
 * Trials of eight calls, and bare workflows of eight empty ordinary activities, by turns and each by a worker process of its own: how many a second, how long one takes, what a
 * worker spends on one, and what is left in memory.
 */
export async function trialRate(root: Root, { quick }: Effort): Promise<Figures> {
  const suite = await eightCalls(root.config.home);
  await using _bare = await startBareWorker(root);
  await using worker = await startWorkerProcess(root.config);
  const temporal = Number((await status(root.config))?.services.find(({ name }) => name === 'temporal')?.id ?? 0);
  // Warms the bundle and the server.
  await trials(root, worker.broken, suite, 20, 10);
  await bares(root, 20, 10);

  const figures: { [name: string]: { [concurrency: string]: number | null } } = {};
  const note = (name: string, concurrency: number, value: number | null) => {
    figures[name] = { ...figures[name], [concurrency]: value === null ? null : rounded(value) };
  };
  const before = { worker: await residentMb(worker.pid), server: await residentMb(temporal) };
  let total = 0;
  for (const concurrency of CONCURRENCIES) {
    const slice = Math.max(concurrency === 1 ? 3 : concurrency, Math.ceil((COUNTS[concurrency] ?? 0) / (quick ? 10 : 2)));
    const [trialMs, bareMs]: [number[], number[]] = [[], []];
    let [trialSeconds, bareSeconds, cpu]: [number, number, number | null] = [0, 0, 0];
    // A batch builds a world for each trial in flight once, and resets them from then on: what thousands of trials cost is without that. It has a figure of its own.
    const first = await trials(root, worker.broken, suite, concurrency, concurrency);
    await bares(root, concurrency, concurrency);
    note('first_trials_per_s', concurrency, concurrency / first.seconds);
    for (let turn = 0; turn < 2; turn++) {
      const cpuBefore = await cpuMs(worker.pid);
      const measured = await trials(root, worker.broken, suite, slice, concurrency);
      const cpuAfter = await cpuMs(worker.pid);
      cpu = cpu === null || cpuBefore === null || cpuAfter === null ? null : cpu + cpuAfter - cpuBefore;
      trialSeconds += measured.seconds;
      trialMs.push(...measured.ms);
      const other = await bares(root, slice, concurrency);
      bareSeconds += other.seconds;
      bareMs.push(...other.ms);
    }
    const n = 2 * slice;
    total += n + concurrency;
    note('trials_per_s', concurrency, n / trialSeconds);
    note('bare_per_s', concurrency, n / bareSeconds);
    note('trials_to_bare', concurrency, bareSeconds / trialSeconds);
    note('trial_ms_p50', concurrency, quantile(trialMs, 0.5));
    note('trial_ms_p95', concurrency, quantile(trialMs, 0.95));
    note('bare_ms_p50', concurrency, quantile(bareMs, 0.5));
    note('bare_ms_p95', concurrency, quantile(bareMs, 0.95));
    note('worker_cpu_ms_per_trial', concurrency, cpu === null ? null : cpu / n);
    // Of the machine's time: what a trial takes more than the bare workflow.
    note('overhead_ms_per_trial', concurrency, ((trialSeconds - bareSeconds) / n) * 1000);
    note('overhead_ms_per_call', concurrency, ((trialSeconds - bareSeconds) / n / CALLS) * 1000);
  }
  const grown = (from: number | null, to: number | null) => (from === null || to === null ? null : rounded(((to - from) / total) * 1000, 1));
  return {
    ...figures,
    worker_mb_per_1000_trials: grown(before.worker, await residentMb(worker.pid)),
    // It has the bare workflows as well.
    server_mb_per_1000_trials: grown(before.server, await residentMb(temporal)),
  };
}

async function trials(root: Root, broken: Promise<never>, suite: string, count: number, concurrency: number) {
  const handle = await run(root, { suite, agents: ['reference'], trials: count, concurrency, keep: 'never' }, broken);
  const ms: number[] = [];
  let startedAt = performance.now();
  for await (const event of handle.events()) {
    // What was planned and stored before is not a trial's.
    if (event.type === 'batch') startedAt = performance.now();
    if (event.type !== 'trial') continue;
    if (event.pass !== 'pass') throw new Error(`a reference trial did not pass (${event.ending}: ${event.why}); the figures would mean nothing`);
    ms.push(event.durationMs);
  }
  await handle.result();
  return { seconds: (performance.now() - startedAt) / 1000, ms };
}

async function bares(root: Root, count: number, concurrency: number) {
  const startedAt = performance.now();
  const ms: number[] = [];
  const ids = Array.from({ length: count }, (_none, index) => `bare-${startedAt}-${index}`);
  const seconds = await inLanes(ids, concurrency, (workflowId) =>
    timed(ms, () => root.temporal.workflow.execute('bare', { workflowId, taskQueue: BARE_QUEUE, args: [CALLS, 0] })),
  );
  return { seconds, ms };
}
