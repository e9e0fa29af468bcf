import { type AddCommand, common, withClient } from '../command.ts';
import { EXIT } from '../exit.ts';
import { columnsOf, type CommonFlags, paintFor, print, printJson } from '../host.ts';
import { modelConversationLines } from '../model-conversation.ts';
import { timelineLines } from '../trial-timeline.ts';

/** `trialbed show TRIAL`. */
export const addShow: AddCommand = (program, { host, action }) => {
  const command = program
    .command('show')
    .summary('show one trial from the request to the verdict')
    .description(
      'Show a trial: conversation, operations with what the agent was told and what the systems of record know, effects, mails, the verdict with its evidence, attempts.',
    )
    .argument('<trial>', 'id of the trial, or the beginning of it that only this trial has')
    .option('--conversation', 'add what was said between models and whoever asked them, as it was kept: redacted')
    .action(
      action(async (trial: string, flags: CommonFlags & { readonly conversation?: true }) => {
        const view = await withClient(host, flags, (client) => client.show(trial));
        if (flags.json) printJson(host, { type: 'trial_view', ...view });
        else for (const line of timelineLines(view, columnsOf(host.out), paintFor(host.out))) print(host, line);
        if (flags.conversation && !flags.json) for (const line of modelConversationLines(view, paintFor(host.out))) print(host, line);
        return EXIT.ok;
      }),
    );
  common(command, ['show ksu672m9bf-1f2a09c4', 'show ksu672m9bf-1f2a09c4 --json | jq .verdicts']);
};
