import { type AddCommand, common, withClient } from '../command.ts';
import { EXIT } from '../exit.ts';
import { type CommonFlags, print, printJson } from '../host.ts';
import { plainText } from '../../report/plain-text.ts';

/** `trialbed regrade BATCH`. */
export const addRegrade: AddCommand = (program, { host, action }) => {
  const command = program
    .command('regrade')
    .summary('grade stored records again by the cases as they are now')
    .description(
      'Grade the stored records of a batch again by the case files as they are now, without running an agent. The old verdicts stay; each names its grader and case.',
    )
    .argument('<batch>', 'id of a batch')
    .action(
      action(async (batch: string, flags: CommonFlags) => {
        const report = await withClient(host, flags, (client) => client.regrade(batch));
        if (flags.json) {
          printJson(host, { type: 'regrade', ...report });
          return EXIT.ok;
        }
        for (const change of report.changed)
          print(
            host,
            plainText(`${change.case} by ${change.agent}: ${change.from} -> ${change.to}${change.why === null ? '' : ` (${change.why})`}  ${change.trial}`),
          );
        print(
          host,
          `${report.regraded} graded again: ${report.changed.length} changed, ${report.unchanged} unchanged${report.skipped > 0 ? `; ${report.skipped} have no record and cannot be graded` : ''}`,
        );
        return EXIT.ok;
      }),
    );
  common(command, ['regrade 20260302-093000-k3v9', 'regrade 20260302-093000-k3v9 --json']);
};
