import { type AddCommand, common, withClient } from '../command.ts';
import { EXIT } from '../exit.ts';
import { type CommonFlags, print, printJson } from '../host.ts';
import { plainText } from '../../report/plain-text.ts';

/** `trialbed sweep`. */
export const addSweep: AddCommand = (program, { host, action }) => {
  const command = program
    .command('sweep')
    .summary('drop worlds that nobody owns any more')
    .description(
      'Find worlds whose lease has lapsed, whose workflow is closed or whose container is gone, from the databases and the labels of containers alone, and drop them. ' +
        'Live worlds, and what is not ours, are left alone.',
    )
    .option('--dry-run', 'only tell what would be dropped')
    .action(
      action(async (flags: CommonFlags & { readonly dryRun?: true }) => {
        const report = await withClient(host, flags, (client) => client.sweep(flags.dryRun ? { dryRun: true } : {}));
        if (flags.json) {
          printJson(host, { type: 'sweep', dryRun: flags.dryRun === true, ...report });
          return EXIT.ok;
        }
        const reasons = {
          lease_lapsed: 'its lease has lapsed',
          workflow_closed: 'its workflow is closed',
          container_lost: 'its container is gone',
          orphan: 'no registry knows it',
        };
        for (const swept of report.swept)
          print(
            host,
            plainText(`${flags.dryRun ? 'would drop' : 'dropped'} ${swept.world}${swept.owner === '' ? '' : ` of ${swept.owner}`}: ${reasons[swept.reason]}`),
          );
        for (const { server, why } of report.away ?? []) print(host, plainText(`server ${server} was not looked at, since it does not answer: ${why}`));
        print(host, `${report.swept.length} ${flags.dryRun ? 'to drop' : 'dropped'}, ${report.live} live, ${report.pooled} pooled, ${report.leaked} leaked`);
        if (report.forgotten > 0)
          print(
            host,
            `conversations of ${report.forgotten} dead trials ${flags.dryRun ? 'are to be forgotten' : 'were forgotten'}, word for word; what is redacted stays`,
          );
        print(host, `since the server of the worlds was prepared: ${report.ever.made} made, ${report.ever.released} released, ${report.ever.swept} swept`);
        return EXIT.ok;
      }),
    );
  common(command, ['sweep --dry-run', 'sweep']);
};
