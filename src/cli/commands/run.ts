import { access, constants } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Option } from 'commander';
import type { RunRequest } from '../../client/api.ts';
import { type ConfirmAbove, reasonsToConfirm } from '../../domain/confirmation.ts';
import type { Json } from '../../domain/json.ts';
import type { Money } from '../../domain/model.ts';
import type { Severity } from '../../domain/trial-facts.ts';
import { makeFolder } from '../../infra/make-folder.ts';
import { type AddCommand, common, withClient } from '../command.ts';
import { type ConfirmOptions, confirmLimits } from '../confirm.ts';
import { estimateLines } from '../estimate-lines.ts';
import { EXIT, UsageError } from '../exit.ts';
import { columnsOf, type CommonFlags, type Host, paintFor, print, printJson } from '../host.ts';
import { assignment, collect, concurrency, confirmAbove, faultNames, gates, moneyAmount, positiveInteger, priority, shard } from '../options.ts';
import { followBatch } from '../follow.ts';
import { severities } from '../severities.ts';

/** `trialbed run SUITE`. */
export const addRun: AddCommand = (program, { host, action }) => {
  const command = program
    .command('run')
    .summary('run a suite against agents')
    .description(
      'Run every case of a suite against agents, each trial in a world of its own, grade what really changed, and write a report. ' +
        'Started again after it was interrupted, the same command goes on where it stopped.',
    )
    .argument('<suite>', 'name of a built-in suite, or path of a suite folder')
    .option('--agent <name>', 'agent of the suite, reference, do-nothing, or path of an agent file (repeatable; default: as the suite says)', collect)
    .option('--case <glob>', 'only cases whose id matches (repeatable: any may match)', collect)
    .option('--tag <tag>', 'only cases with this tag (repeatable: any may match)', collect)
    .option('--severity <severity>', 'only cases of this severity: low, medium, high or critical (repeatable: any may match)', severities)
    .option(
      '--faults <names>',
      'fault schedules of the suite: names or globs with commas between them, none, or all (repeatable; default: as the suite says)',
      faultNames,
    )
    .option('--shard <part/parts>', 'only this part of the trials, for example 2/4', shard)
    .option('--last-failed', 'only trials of this suite whose newest verdict is no pass, whatever batch it is of')
    .option('--trials <n>', 'repetitions of each case and agent (default: as the suite says)', positiveInteger)
    .option('--seed <text>', 'seed of everything that is drawn')
    .addOption(new Option('--keep <when>', 'keep a snapshot of the world').choices(['never', 'failed', 'always']))
    .addOption(new Option('--isolation <level>', 'how worlds are kept apart').choices(['schema', 'database', 'container']))
    .option('--concurrency <n>', 'trials in flight', concurrency)
    .option('--priority <n>', 'where batches share workers: 1 is served first, 5 last (default: 3)', priority)
    .option('--with <name=value>', "option of the environment, over the suite's (repeatable; the value is JSON or text)", assignment)
    .option('--max-cost <amount>', 'stop launching once models have cost so much, for example "2.50 USD" (default: as the suite says)', moneyAmount)
    .option('--dry-run', 'only tell which trials it would be, and what these are likely to take by earlier batches')
    .option(
      '--confirm-above <limit>',
      'ask before a run that is larger or dearer, for example "500 trials, 5.00 USD" (default: as the suite and the machine say)',
      confirmAbove,
    )
    .option('--yes', 'begin without asking')
    .option('--human', "people decide what needs an approval (trialbed approvals), and not the cases' approvers")
    .addOption(
      new Option('--unverified <what>', 'with --human: plain signals, whose sender nobody knows, count as decisions (default: as the suite says)').choices([
        'count',
        'refuse',
      ]),
    )
    .option('--cassettes', 'answer tools from the cassettes of the suite ("trialbed record"), and make no world')
    .option('--variant <glob>', 'with --cassettes: only cassettes whose name matches (repeatable; default: those recorded with the agent, else all)', collect)
    .option('--live-models', 'with --cassettes: ask models, also where a cassette holds what they replied')
    .option('--cassette-dir <dir>', 'with --cassettes: their folder (default: cassettes in the folder of the suite)')
    .option('--allow-misses', 'gate: trials that ended as cassette_miss do not count against it')
    .option('--deployment <name>', 'leave the trials to the workers of this deployment, and start none (default: TRIALBED_DEPLOYMENT)')
    .option('--report <dir>', 'folder for the report (default: reports/BATCH in the home folder)')
    .option(
      '--gate <gate>',
      'what the batch has to reach, such as "pass>=0.9" or "forbidden[critical]==0" (repeatable: all must hold; default: as the suite says, else pass>=1)',
      gates,
    )
    .option('--no-gate', 'exit 0 whatever the verdicts are; infrastructure errors still exit 3')
    .action(
      action(async (suite: string, flags: RunFlags) => {
        requireCassettes(flags);
        const request = runRequest(suite, flags, host.cwd);
        const check = await host.checks.run(request);
        const confirm = confirmOptions(flags, check.confirmAbove);
        if (flags.dryRun) return await dryRun(host, flags, request, confirm);
        if (flags.report !== undefined) await writableFolder(resolve(host.cwd, flags.report));
        return await followBatch(host, flags, request, confirm);
      }),
    );
  common(command, [
    'run support-desk --agent reference --agent hasty',
    "run ./my-suite --agent ./agents/mine.yaml --case 'refund-*' --trials 5",
    'run support-desk --faults all --trials 5 --dry-run',
    'run support-desk --faults all --seed 7',
    'run support-desk --last-failed --keep failed',
    'run ./my-suite --cassettes --agent careful',
    'run support-desk --shard 2/4 --json > trials.jsonl',
  ]);
};

/** Options of `run`, as commander gives them. */
export interface RunFlags extends CommonFlags {
  readonly agent?: readonly string[];
  readonly case?: readonly string[];
  readonly tag?: readonly string[];
  readonly severity?: readonly Severity[];
  readonly faults?: readonly string[];
  readonly shard?: { readonly index: number; readonly of: number };
  readonly lastFailed?: true;
  readonly trials?: number;
  readonly seed?: string;
  readonly keep?: 'never' | 'failed' | 'always';
  readonly isolation?: 'schema' | 'database' | 'container';
  readonly concurrency?: number;
  readonly priority?: number;
  readonly with?: { readonly [name: string]: Json };
  readonly maxCost?: Money;
  readonly human?: true;
  readonly dryRun?: true;
  readonly confirmAbove?: ConfirmAbove;
  readonly yes?: true;
  readonly unverified?: 'count' | 'refuse';
  readonly cassettes?: true;
  readonly variant?: readonly string[];
  readonly cassetteDir?: string;
  readonly liveModels?: true;
  readonly allowMisses?: true;
  readonly deployment?: string;
  readonly report?: string;
  /** False with `--no-gate`. */
  readonly gate?: readonly string[] | false;
}

/** What the flags ask of the client. Options that were not given stay away, so that the client's defaults hold. */
export function runRequest(suite: string, flags: RunFlags, cwd: string = '.'): RunRequest {
  return {
    suite,
    ...(flags.agent && { agents: flags.agent }),
    ...(flags.case && { cases: flags.case }),
    ...(flags.tag && { tags: flags.tag }),
    ...(flags.severity && { severities: flags.severity }),
    ...(flags.faults && { faults: flags.faults }),
    ...(flags.shard && { shard: flags.shard }),
    ...(flags.lastFailed && { lastFailed: true }),
    ...(flags.trials !== undefined && { trials: flags.trials }),
    ...(flags.seed !== undefined && { seed: flags.seed }),
    ...(flags.keep && { keep: flags.keep }),
    ...(flags.isolation && { isolation: flags.isolation }),
    ...(flags.concurrency !== undefined && { concurrency: flags.concurrency }),
    ...(flags.priority !== undefined && { priority: flags.priority }),
    ...(flags.maxCost && { maxCost: flags.maxCost }),
    ...(flags.gate && { gates: flags.gate }),
    ...(flags.allowMisses && { allowMisses: true }),
    ...(flags.human && { human: true }),
    ...(flags.deployment !== undefined && { deployment: flags.deployment }),
    ...(flags.unverified && { unverified: flags.unverified }),
    ...(flags.with && { environmentOptions: flags.with }),
    ...(flags.cassettes && {
      cassettes: {
        ...(flags.cassetteDir !== undefined && { folder: resolve(cwd, flags.cassetteDir) }),
        ...(flags.variant && { variants: flags.variant }),
        ...(flags.liveModels && { liveModels: true }),
      },
    }),
  };
}

/** Options that mean nothing without cassettes, and those that mean nothing with them. @throws {UsageError} */
function requireCassettes(flags: RunFlags): void {
  const given = (options: { readonly [option: string]: unknown }) => Object.keys(options).find((option) => options[option] !== undefined);
  const without = given({ '--variant': flags.variant, '--cassette-dir': flags.cassetteDir, '--live-models': flags.liveModels });
  if (!flags.cassettes && without !== undefined) throw new UsageError(`${without} is for runs on cassettes; add --cassettes`);
  const faults = flags.faults?.every((name) => name === 'none') ? undefined : flags.faults;
  const beside = given({ '--faults': faults, '--isolation': flags.isolation, '--keep': flags.keep });
  if (flags.cassettes && beside !== undefined)
    throw new UsageError(`${beside} needs a world, and on cassettes there is none: what went wrong when a cassette was recorded is in it; leave ${beside} out`);
}

function confirmOptions(flags: RunFlags, suite: ConfirmAbove): ConfirmOptions {
  return { suite, ...(flags.confirmAbove && { option: flags.confirmAbove }), ...(flags.yes && { yes: flags.yes }) };
}

/** Tells what a run would be, and whether it would ask. */
async function dryRun(host: Host, flags: RunFlags, request: RunRequest, confirm: ConfirmOptions): Promise<number> {
  const estimate = await withClient(host, flags, (client) => client.estimate(request));
  const reasons = reasonsToConfirm(estimate, confirmLimits(host, confirm));
  if (flags.json) {
    printJson(host, { ...estimate, confirm: reasons });
    return EXIT.ok;
  }
  for (const line of estimateLines(estimate, columnsOf(host.out), paintFor(host.out))) print(host, line);
  if (reasons.length > 0) print(host, paintFor(host.out)('yellow', `a run asks before it begins: ${reasons.join('; ')}`));
  return EXIT.ok;
}

/** Fails before the trials run rather than after. */
async function writableFolder(dir: string): Promise<void> {
  try {
    await makeFolder(dir);
    await access(dir, constants.W_OK);
  } catch (error) {
    throw new UsageError(`the report cannot be written to ${dir}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
