import type { ForkReceipt, Trialbed } from '../../client/api.ts';
import { plainText } from '../../report/plain-text.ts';
import { type AddCommand, common, withClient } from '../command.ts';
import { EXIT } from '../exit.ts';
import type { FollowFlags } from '../follow.ts';
import { hintsFor } from '../hint.ts';
import { print, printJson } from '../host.ts';
import { gates } from '../options.ts';
import { watch } from './watch.ts';

type ForkFlags = FollowFlags & { readonly at: string; readonly agent?: string; readonly faults?: string; readonly start: boolean };

/** `trialbed fork TRIAL --at OPERATION`. */
export const addFork: AddCommand = (program, { host, action }) => {
  const command = program
    .command('fork')
    .summary('run a new trial from the state of another')
    .description(
      'Make a new trial in a fresh world, as the world of another trial was after one of its operations, and run it: by the same agent or another, under the same faults or others. The agent ' +
        'begins anew, and its calls up to there are answered from the record; one that is not the same is refused, and ends the trial as cassette_miss. The original is only read. The new trial is ' +
        'alone in a batch of its own, and counts in no report of the original.',
    )
    .argument('<trial>', 'id of the trial, or the beginning of it that only this trial has')
    .requiredOption('--at <operation>', 'the last operation that stands, such as op-3; start: none')
    .option('--agent <name|path>', "another agent of the suite, or an agent file (default: the trial's)")
    .option('--faults <name>', "another fault schedule of the suite, or none (default: the trial's)")
    .option('--no-start', 'only make it; "trialbed watch" runs it')
    .option('--report <dir>', 'folder for the report (default: reports/BATCH in the home folder)')
    .option(
      '--gate <gate>',
      'what the batch has to reach, such as "pass>=0.9" or "forbidden[critical]==0" (repeatable: all must hold; default: that the trial passes)',
      gates,
    )
    .option('--no-gate', 'exit 0 whatever the verdict is; infrastructure errors still exit 3')
    .action(
      action(async (trial: string, flags: ForkFlags) => {
        const request = { at: flags.at, ...(flags.agent !== undefined && { agent: flags.agent }), ...(flags.faults !== undefined && { faults: flags.faults }) };
        const made = async (client: Pick<Trialbed, 'fork'>) => {
          const receipt = await client.fork(trial, request);
          if (flags.json) printJson(host, { type: 'fork', ...receipt });
          else print(host, forkLine(receipt));
          return receipt.batch;
        };
        if (flags.start) return watch(host, made, flags);
        const batch = await withClient(host, flags, made);
        if (!flags.json) print(host, `"${hintsFor(host, flags)(`watch ${batch}`)}" runs it`);
        return EXIT.ok;
      }),
    );
  common(command, [
    'fork ksu672m9bf-1f2a09c4 --at op-3',
    'fork ksu672m9bf-1f2a09c4 --at op-3 --agent careful --faults none',
    'fork ksu672m9bf-1f2a09c4 --at start --no-start --json',
  ]);
};

function forkLine({ trial, source, point, calls, agent, schedule }: ForkReceipt): string {
  const from = calls === 0 ? 'from before the first call' : `after ${point}`;
  return plainText(`trial ${trial} goes on from attempt ${source.attempt} of ${source.trial} ${from}, by ${agent}, faults: ${schedule}`);
}
