import { join } from 'node:path';
// As it is installed: plain Node reads no page that is written in JSX.
import { writeBatchReport } from 'trialbed';
import { trialbedOver } from '../src/client/index.ts';
import { run } from '../src/client/run.ts';
import { startWorkerProcess } from '../src/client/worker-process.ts';
import { status } from '../src/infra/services.ts';
import type { Root } from '../src/worker/root.ts';
import { eightCalls } from './eight-calls.ts';
import { type Effort, type Figures, rounded } from './figures.ts';
import { cpuMs, residentMb } from './process-cost.ts';

const TRIALS = 10_000;
const IN_FLIGHT = 50;

/**
 * One batch of ten thousand trials of eight calls: all end, each is counted once, the rate does not fall, memory does not grow, histories are small, and the report is there at once. With
 * `quick` a twentieth of it; the names of the figures stay, and a thousand is then fifty.
 */
export async function tenThousand(root: Root, { quick }: Effort): Promise<Figures> {
  const count = quick ? TRIALS / 20 : TRIALS;
  const thousand = count / 10;
  const suite = await eightCalls(root.config.home);
  await using worker = await startWorkerProcess(root.config);
  const server = Number((await status(root.config))?.services.find(({ name }) => name === 'temporal')?.id ?? 0);
  const handle = await run(root, { suite, agents: ['reference'], trials: count, concurrency: IN_FLIGHT, keep: 'never' }, worker.broken);
  const seconds: number[] = [];
  const workerMb: { [thousand: string]: number | null } = {};
  const serverMb: { [thousand: string]: number | null } = {};
  // What else the machine does moves the rate, and this hardly.
  const workerCpu: { [thousand: string]: number | null } = {};
  let cpuBefore = await cpuMs(worker.pid);
  let [ended, passed, since] = [0, 0, performance.now()];
  for await (const event of handle.events()) {
    if (event.type === 'batch') since = performance.now();
    if (event.type !== 'trial') continue;
    ended++;
    if (event.pass === 'pass') passed++;
    if (ended % thousand !== 0) continue;
    seconds.push((performance.now() - since) / 1000);
    since = performance.now();
    const [ours, its] = [await residentMb(worker.pid), await residentMb(server)];
    const turn = String(ended / thousand);
    const cpu = await cpuMs(worker.pid);
    workerCpu[turn] = cpu === null || cpuBefore === null ? null : rounded((cpu - cpuBefore) / thousand);
    cpuBefore = cpu;
    [workerMb[turn], serverMb[turn]] = [ours && rounded(ours, 0), its && rounded(its, 0)];
    process.stderr.write(`${ended} trials: ${rounded(thousand / (seconds.at(-1) ?? 1))} a second, worker ${workerMb[turn]} MB, server ${serverMb[turn]} MB\n`);
  }
  await handle.result();
  const { trials, verdicts } = await counted(root, handle.id);
  const reportMs = await timeOfReport(root, handle.id);
  const histories = await largestHistory(root, handle.id, count);
  const rate = (n: number) => rounded(thousand / (seconds[n] ?? Number.NaN));
  const growth = (of: { readonly [turn: string]: number | null }) => rounded((of['10'] ?? Number.NaN) - (of['1'] ?? Number.NaN), 0);
  return {
    ten_thousand_trials: count,
    ten_thousand_results: trials,
    ten_thousand_verdicts: verdicts,
    ten_thousand_passed: passed,
    ten_thousand_seconds: rounded(seconds.reduce((sum, one) => sum + one, 0)),
    ten_thousand_per_s_second: rate(1),
    ten_thousand_per_s_last: rate(9),
    ten_thousand_last_to_second: rounded(rate(9) / rate(1), 3),
    ten_thousand_worker_cpu_ms_per_trial: workerCpu,
    ten_thousand_worker_mb: workerMb,
    ten_thousand_server_mb: serverMb,
    ten_thousand_worker_mb_growth: growth(workerMb),
    ten_thousand_report_seconds: rounded(reportMs / 1000),
    ...histories,
  };
}

/** What the store has: trials with a result, and verdicts that count. */
async function counted({ store }: Root, batch: string): Promise<{ readonly trials: number; readonly verdicts: number }> {
  const rows = (await store.trials(batch)).filter(({ summary }) => summary !== null);
  let verdicts = 0;
  for (const { id } of rows) verdicts += (await store.verdicts(id)).filter(({ current }) => current).length;
  return { trials: rows.length, verdicts };
}

async function timeOfReport(root: Root, batch: string): Promise<number> {
  // Not closed: its end is that of the root's connections, which are still needed.
  const bed = trialbedOver(root, async () => {});
  const startedAt = performance.now();
  await writeBatchReport(bed, { batch, folder: join(root.config.home, 'bench-report') });
  return performance.now() - startedAt;
}

/** Of the trials' workflows, and of those that run the batch. The index of the server may lag behind, so it is asked until it has all. */
async function largestHistory({ temporal }: Root, batch: string, trials: number): Promise<Figures> {
  const query = `TrialbedBatch = '${batch}'`;
  for (let tries = 0; tries < 60 && (await temporal.workflow.count(query)).count < trials; tries++) await new Promise((resolve) => setTimeout(resolve, 1_000));
  const largest = { trial: { events: 0, bytes: 0 }, other: { events: 0, bytes: 0 } };
  for await (const { type, historyLength, historySize = 0 } of temporal.workflow.list({ query })) {
    const of = type === 'trial' ? largest.trial : largest.other;
    of.events = Math.max(of.events, historyLength);
    of.bytes = Math.max(of.bytes, historySize);
  }
  return {
    largest_trial_history_events: largest.trial.events,
    largest_trial_history_bytes: largest.trial.bytes,
    largest_batch_history_events: largest.other.events,
    largest_batch_history_bytes: largest.other.bytes,
  };
}
