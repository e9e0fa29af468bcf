import { type AddCommand, common } from '../command.ts';
import { EXIT } from '../exit.ts';
import { hintsFor } from '../hint.ts';
import { type CommonFlags, print, printJson } from '../host.ts';
import { placeOf } from '../place.ts';

/** `trialbed down`. */
export const addDown: AddCommand = (program, { host, action }) => {
  const command = program
    .command('down')
    .summary('stop the services that "up" keeps, and containers of worlds')
    .description(
      'Stop the services that "trialbed up" keeps, and end the containers that worlds of interrupted batches have. Data of the services stay. ' +
        'Where processes still use the services, they stop with the last of these.',
    )
    .option('--force', 'stop them under their users, whose trials end as infrastructure errors or wait for the next start')
    .action(
      action(async (flags: CommonFlags & { readonly force?: true }) => {
        const { down } = await import('../../client/services.ts');
        const report = await down({ ...placeOf(host, flags), env: host.env, force: flags.force === true });
        if (flags.json) {
          printJson(host, { type: 'down', ...report });
          return EXIT.ok;
        }
        const said = {
          stopped: 'the services have stopped',
          'not running': 'no services are running for this home folder',
          users: `the services stop with the last process that uses them: ${report.users.join(', ')}`,
        };
        print(host, said[report.result]);
        const { ended, left } = report.containers;
        if (ended > 0) print(host, `${ended} containers of worlds were ended; their trials start again when their batch is resumed`);
        if (left > 0)
          print(host, `${left} containers of worlds were left, because their trials may be running; "${hintsFor(host, flags)('down --force')}" ends them`);
        return EXIT.ok;
      }),
    );
  common(command, ['down', 'down --force']);
};
