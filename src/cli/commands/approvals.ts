import { askedLines } from '../approval-lines.ts';
import { type AddCommand, common, withClient } from '../command.ts';
import { EXIT } from '../exit.ts';
import { hintsFor } from '../hint.ts';
import { columnsOf, type CommonFlags, note, paintFor, print, printJson } from '../host.ts';

/** `trialbed approvals`. */
export const addApprovals: AddCommand = (program, { host, action }) => {
  const command = program
    .command('approvals')
    .summary('list calls that wait for your approval')
    .description(
      'List what waits for a decision in batches that run with --human, the oldest first: the call, its arguments, and the rows that an approval would be bound to. ' +
        'Trials without --human ask nobody: their approver belongs to the case.',
    )
    .argument('[batch]', 'only those of this batch')
    .action(
      action(async (batch: string | undefined, flags: CommonFlags) => {
        const waiting = await withClient(host, flags, (client) => client.approvals(batch === undefined ? {} : { batch }));
        if (flags.json) {
          for (const asked of waiting) printJson(host, { type: 'approval', ...asked });
          return EXIT.ok;
        }
        if (waiting.length === 0) print(host, 'nothing waits for an approval');
        const columns = columnsOf(host.out);
        const hint = hintsFor(host, flags);
        for (const asked of waiting) for (const line of askedLines(asked, columns, paintFor(host.out))) print(host, line);
        if (waiting.length > 0)
          note(host, `decide with "${hint('approve ID')}" or "${hint('deny ID --reason TEXT')}"; the beginning of an id is enough where only one has it`);
        return EXIT.ok;
      }),
    );
  common(command, ['approvals', 'approvals ksu672m9bf', 'approvals --json | jq .approval.rows']);
};
