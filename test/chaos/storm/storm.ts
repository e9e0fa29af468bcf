import { mkdir } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { acquireServices, down, up } from '../../../src/infra/services.ts';
import type { BatchRow } from '../../../src/store/store.ts';
import { readConfig, readSettings } from '../../../src/worker/config.ts';
import { createRoot } from '../../../src/worker/root.ts';
import { calls, says, startProvider } from '../../harness/provider.ts';
import { BatchRun } from './batch-run.ts';
import { type Checked, checkPair, leaks, type Pair } from './check.ts';
import { requeueLost } from './lost.ts';
import { type StormOptions, TRIALS_A_ROUND } from './options.ts';
import { OwnWorker } from './own-worker.ts';
import type { Place } from './processes.ts';
import { planStorm, type StormPlan } from './plan.ts';
import { type Recovery, recoveries } from './recovery.ts';
import { type Kill, strikeAll } from './striker.ts';
import { otherSuites, type StormBatch, writeStormSuite } from './suites.ts';

/** What was done and what came of it. */
export interface Storm {
  readonly options: StormOptions;
  readonly kills: readonly Kill[];
  /** Failpoints that nothing came to. */
  readonly missed: readonly string[];
  readonly recoveries: readonly Recovery[];
  readonly batches: readonly (Pair &
    Checked & {
      /** Trials whose three attempts were all lost to kills: they were put into the queue again once nothing was killed any more. */
      readonly requeued: number;
      readonly seconds: number;
      readonly undisturbedSeconds: number;
    })[];
  /** Commands and workers that ended by themselves and were started again. */
  readonly gaveUp: readonly string[];
  /** Worlds that the sweeper had to drop. */
  readonly swept: number;
  readonly violations: readonly string[];
}

/** Runs the batches with kills, then undisturbed, and compares. `home` is a folder that nobody else uses; a rejection of `interrupted` ends everything. */
export async function runStorm(options: StormOptions, home: string, say: (line: string) => void, interrupted: Promise<never>): Promise<Storm> {
  await using stack = new AsyncDisposableStack();
  await mkdir(join(home, 'logs'), { recursive: true });
  // Programs of agents and tools are to find the Node that this runs on.
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter);
  const env = { PATH: path, HOME: process.env.HOME, XDG_CACHE_HOME: process.env.XDG_CACHE_HOME, TEMPORAL_CLI_PATH: process.env.TEMPORAL_CLI_PATH };
  const variables = { ...env, TRIALBED_HOME: home, TRIALBED_POSTGRES: 'embedded' };
  const settings = readSettings(variables);
  // The services must outlive the command that uses them.
  await up(settings, { progress: say });
  stack.defer(async () => void (await down(settings, { force: true })));
  const lease = stack.use(await acquireServices(settings));
  const root = stack.use(await createRoot(readConfig(variables, lease.endpoints)));
  const provider = stack.use(
    await startProvider(({ body }) => (body.messages.some(({ role }) => role === 'tool') ? says('I call you back.') : calls(CALL_BACK))),
  );

  const plan = planStorm(options);
  const main = await writeStormSuite(home, 'storm', options.trials / TRIALS_A_ROUND);
  const encore = await writeStormSuite(home, 'encore', ENCORE_REPETITIONS);
  const others = plan.rare.length > 0 ? await otherSuites(home, provider.url) : [];
  const more = ['--seed', options.seed, '--keep', 'always', '--no-gate', '--json'];
  const runs = (batch: StormBatch, concurrency: number) =>
    new BatchRun({ home, env: variables }, root.store, batch, [...more, '--concurrency', String(concurrency)]);

  const struck = await strike({ home, env: variables }, plan, { main, encore, others, concurrency: options.concurrency, interrupted }, runs, say);
  const trials = (await Promise.all(struck.rows.map(({ id }) => root.store.trials(id)))).flat().map(({ id }) => id);
  const found = await recoveries(root.temporal, trials, struck.kills);
  const requeued = await Promise.race([requeueLost({ home, env: variables }, root.store, struck.rows, say), interrupted]);
  say('undisturbed');
  const batches: Storm['batches'][number][] = [];
  for (const batch of [main, encore, ...others]) {
    if (!struck.rows.some(({ suite }) => suite === batch.suite)) continue;
    const other = await Promise.race([stack.use(runs(batch, options.concurrency)).finished, interrupted]);
    for (const row of struck.rows.filter(({ suite }) => suite === batch.suite)) {
      const pair = { suite: batch.suite, struck: row.id, undisturbed: other.id };
      batches.push({
        ...pair,
        ...(await checkPair(root, pair)),
        requeued: requeued.get(row.id) ?? 0,
        seconds: secondsOf(row),
        undisturbedSeconds: secondsOf(other),
      });
    }
  }
  const { swept, left } = await leaks(root, home);
  const violations = [...batches.flatMap((batch) => batch.violations), ...left];
  return { options, kills: struck.kills, missed: struck.missed, recoveries: found, batches, gaveUp: struck.gaveUp, swept, violations };
}

/** So often the batches of other kinds are run, and the one that follows the main batch, until each of their failpoints was reached. */
const ROUNDS = 4;

/** Of a batch like the main one that follows where that was over, as on a fast machine, before a worker was killed at each of its failpoints. */
const ENCORE_REPETITIONS = 2;

function isRare({ rare }: StormPlan, name: string): boolean {
  return rare.some((one) => one.name === name);
}

interface Struck {
  readonly rows: readonly BatchRow[];
  readonly kills: readonly Kill[];
  readonly missed: readonly string[];
  readonly gaveUp: readonly string[];
}

async function strike(
  place: Place,
  plan: StormPlan,
  batches: {
    readonly main: StormBatch;
    readonly encore: StormBatch;
    readonly others: readonly StormBatch[];
    readonly concurrency: number;
    readonly interrupted: Promise<never>;
  },
  runs: (batch: StormBatch, concurrency: number) => BatchRun,
  say: (line: string) => void,
): Promise<Struck> {
  const startedAt = Date.now();
  const kills: Kill[] = [];
  const gaveUp: string[] = [];
  const killed = (kill: Kill) => {
    kills.push(kill);
    const seconds = ((kill.at - startedAt) / 1000).toFixed(1).padStart(7);
    say(`${seconds} s  ${String(kill.done).padStart(5)} trials  killed ${kill.failpoint ? `a worker at ${kill.failpoint}` : `the ${kill.what}`} (${kill.pid})`);
  };
  const rows: BatchRow[] = [];
  await using running = new AsyncDisposableStack();
  let run: BatchRun;
  await using worker = new OwnWorker(place, plan, {
    reached: (failpoint, pid, at) => killed({ what: 'failpoint', failpoint, pid, at, done: run.done }),
    endedByItself: (how) => gaveUp.push(how),
  });
  const main = running.use(runs(batches.main, batches.concurrency));
  run = main;
  const follow = async (one: BatchRun) => {
    rows.push(await one.finished);
    gaveUp.push(...one.gaveUp);
  };
  const all = Promise.all([
    (async () => {
      await follow(main);
      for (let round = 0; round < ROUNDS && worker.left.some((name) => !isRare(plan, name)); round++) {
        run = running.use(runs(batches.encore, batches.concurrency));
        await follow(run);
      }
    })(),
    strikeAll(place.home, plan.strikes, { run: main, worker, killed }),
    (async () => {
      for (let round = 0; round < ROUNDS && worker.left.some((name) => isRare(plan, name)); round++) {
        for (const batch of batches.others) await follow(running.use(runs(batch, 4)));
      }
    })(),
  ]);
  await Promise.race([all, batches.interrupted]);
  return { rows, kills, missed: worker.left, gaveUp };
}

const CALL_BACK = ['schedule_follow_up', { customer_id: 1007, kind: 'call', due_at: '2026-03-05T09:00:00+01:00', note: 'Call back' }] as const;

function secondsOf({ createdAt, finishedAt }: BatchRow): number {
  return (Date.parse(finishedAt ?? '') - Date.parse(createdAt)) / 1000;
}
