import type { RequeueReceipt } from '../../client/api.ts';
import { plainText } from '../../report/plain-text.ts';
import { type AddCommand, common, withClient } from '../command.ts';
import { EXIT } from '../exit.ts';
import { type Hint, hintsFor } from '../hint.ts';
import { type CommonFlags, print, printJson } from '../host.ts';

/** `trialbed requeue TRIAL`. */
export const addRequeue: AddCommand = (program, { host, action }) => {
  const command = program
    .command('requeue')
    .summary('run a trial once more')
    .description(
      'Put a trial that has ended, or hangs, into the queue of its batch again. It makes another attempt in a new world; earlier attempts are kept, and the newest one that has begun counts. ' +
        'A trial that runs is refused unless --force is given. Given again before the attempt begins, it changes nothing.',
    )
    .argument('<trial>', 'id of the trial, or the beginning of it that only this trial has')
    .option('--force', 'of a trial that runs: its attempt ends as cancelled first')
    .action(
      action(async (trial: string, flags: CommonFlags & { readonly force?: true }) => {
        const receipt = await withClient(host, flags, (client) => client.requeue(trial, { force: flags.force === true }));
        if (flags.json) printJson(host, { type: 'requeue', ...receipt });
        else for (const line of receiptLines(receipt, hintsFor(host, flags))) print(host, line);
        return EXIT.ok;
      }),
    );
  common(command, ['requeue ksu672m9bf-1f2a09c4', 'requeue ksu672m9bf-1f2a09c4 --force']);
};

function receiptLines({ trial, batch, state, attempt, already, ended }: RequeueReceipt, hint: Hint): readonly string[] {
  const kept = attempt === 0 ? '' : `; attempt ${attempt} is kept, and counts until the next has begun`;
  return [
    ...(ended ? [plainText(`the attempt of ${trial} that ran has ended as cancelled`)] : []),
    plainText(already ? `${trial} is in the queue already: nothing was changed` : `${trial} is in the queue of batch ${batch} again${kept}`),
    state === 'running' ? `the batch runs: "${hint(`watch ${batch}`)}" shows it` : `nobody works on the batch: "${hint(`watch ${batch}`)}" goes on with it`,
  ];
}
