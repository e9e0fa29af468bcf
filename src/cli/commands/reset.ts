import type { ResetReceipt } from '../../client/api.ts';
import { plainText } from '../../report/plain-text.ts';
import { type AddCommand, common, withClient } from '../command.ts';
import { EXIT } from '../exit.ts';
import { type Hint, hintsFor } from '../hint.ts';
import { type CommonFlags, print, printJson } from '../host.ts';

/** `trialbed reset TRIAL --to POINT`. */
export const addReset: AddCommand = (program, { host, action }) => {
  const command = program
    .command('reset')
    .summary('let a stuck trial go on from an earlier point')
    .description(
      'Let a trial that has no verdict go on from an earlier point: another attempt in a fresh world, made as the world was then. The agent begins anew, and its calls up to there are ' +
        'answered from the record; one that is not the same is refused. An attempt that runs is ended as cancelled; all attempts are kept. A workflow that is wedged, of which no operation was ' +
        'admitted after the point, goes on itself. A trial with a verdict is never reset: see fork.',
    )
    .argument('<trial>', 'id of the trial, or the beginning of it that only this trial has')
    .requiredOption(
      '--to <point>',
      'the last operation that stands (op-3, or start), a phase (provision, drive, fence, grade, release), or the number of an event of its history',
    )
    .action(
      action(async (trial: string, flags: CommonFlags & { readonly to: string }) => {
        const receipt = await withClient(host, flags, (client) => client.reset(trial, { to: flags.to }));
        if (flags.json) printJson(host, { type: 'reset', ...receipt });
        else for (const line of receiptLines(receipt, hintsFor(host, flags))) print(host, line);
        return EXIT.ok;
      }),
    );
  common(command, ['reset ksu672m9bf-1f2a09c4 --to op-3', 'reset ksu672m9bf-1f2a09c4 --to grade', 'reset ksu672m9bf-1f2a09c4 --to 57 --json']);
};

function receiptLines({ trial, batch, how, point, calls, attempt, state, ended, event }: ResetReceipt, hint: Hint): readonly string[] {
  if (how === 'temporal')
    return [plainText(`attempt ${attempt} of ${trial} goes on from event ${event} of its history, in its own world: no operation was admitted after it`)];
  const answered =
    calls === 0 ? 'from before its first call' : `after ${point}: its first ${calls} ${calls === 1 ? 'call is' : 'calls are'} answered from the record`;
  return [
    ...(ended ? [plainText(`attempt ${attempt} of ${trial} has ended as cancelled, and is kept`)] : []),
    plainText(`the next attempt of ${trial} goes on in a fresh world ${answered}`),
    state === 'running'
      ? `batch ${batch} runs: "${hint(`watch ${batch}`)}" shows it`
      : `nobody works on the batch: "${hint(`watch ${batch}`)}" goes on with it`,
  ];
}
