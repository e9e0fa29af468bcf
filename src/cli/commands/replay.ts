import { resolve } from 'node:path';
import { type AddCommand, common, withClient } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { type CommonFlags, columnsOf, paintFor, print, printJson } from '../host.ts';
import { placeOf } from '../place.ts';
import { replayLines } from '../replay-lines.ts';

interface Flags extends CommonFlags {
  readonly file?: string;
  readonly step?: true;
  readonly save?: string;
}

/** `trialbed replay TRIAL`. */
export const addReplay: AddCommand = (program, { host, action }) => {
  const command = program
    .command('replay')
    .summary("go through a trial's history again with today's workflow code")
    .description(
      'Replay the workflow history of a trial (or of a batch) against the workflow code of today: is it compatible, or at which event does it diverge? ' +
        'Nothing is carried out: no world, no tool, no model is touched. Runs that continued as new are replayed too.',
    )
    .argument('[trial]', 'id of the trial, or the beginning of it that only this trial has; or id of a batch')
    .option('--file <history.json>', "replay a history that was saved, here or with Temporal's tools; needs no services")
    .option('--step', 'print the timeline: every event, and where the trial stood after it')
    .option('--save <file>', 'write the history to a file that replays elsewhere, with --file')
    .action(
      action(async (trial: string | undefined, flags: Flags) => {
        const options = { steps: flags.step === true, ...(flags.save !== undefined && { save: resolve(host.cwd, flags.save) }) };
        const report = await replayOf(trial, flags, options);
        if (flags.json) printJson(host, { type: 'replay', ...report });
        else for (const line of replayLines(report, columnsOf(host.out), paintFor(host.out))) print(host, line);
        return report.compatible ? EXIT.ok : EXIT.gateNotMet;
      }),
    );
  common(
    command,
    [
      'replay ksu672m9bf-1f2a09c4',
      'replay ksu672m9bf-1f2a09c4 --step',
      'replay ksu672m9bf-1f2a09c4 --save stuck.json',
      'replay --file stuck.json --step --json',
    ],
    'Ends with 1 where the history diverges from the code.',
  );

  async function replayOf(trial: string | undefined, flags: Flags, options: { readonly steps: boolean; readonly save?: string }) {
    if (flags.file !== undefined) {
      const { replayFile } = await import('../../client/replay.ts');
      return await replayFile(flags.file, { ...placeOf(host, flags), env: host.env, ...options, ...(trial !== undefined && { workflow: trial }) });
    }
    if (trial === undefined) throw new UsageError('replay needs the id of a trial, or a file: trialbed replay TRIAL, or trialbed replay --file history.json');
    return await withClient(host, flags, (client) => client.replay(trial, options));
  }
};
