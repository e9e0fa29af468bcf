import { type AddCommand, common, withClient } from '../command.ts';
import { EXIT } from '../exit.ts';
import { hintsFor } from '../hint.ts';
import { columnsOf, type CommonFlags, paintFor, print, printJson } from '../host.ts';
import { whyLines } from '../why-lines.ts';

/** `trialbed why ID`. */
export const addWhy: AddCommand = (program, { host, action }) => {
  const command = program
    .command('why')
    .summary('say what a trial or a batch waits for, with the evidence')
    .description(
      'Say in one sentence what a trial waits for, and what that was read from: an activity with its attempt, last heartbeat and last failure, an approval, a model, a worker that is missing, a workflow task that ' +
        'keeps failing, a lock, a gateway, a budget, a service that is away. Of a batch: what is in its own way, and its trials by what they wait for. Works on what runs, has ended or is wedged, and changes nothing.',
    )
    .argument('<id>', 'id of a batch, or of a trial, or the beginning of it that only this trial has')
    .action(
      action(async (id: string, flags: CommonFlags) => {
        const why = await withClient(host, flags, (client) => client.why(id), { temporal: 'optional' });
        if (flags.json) printJson(host, why);
        else for (const line of whyLines(why, columnsOf(host.out), paintFor(host.out), hintsFor(host, flags))) print(host, line);
        return EXIT.ok;
      }),
    );
  common(command, ['why ksu672m9bf-1f2a09c4', 'why ksu672m9bf', 'why ksu672m9bf --json | jq .groups']);
};
