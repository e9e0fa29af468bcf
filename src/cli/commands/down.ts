import { type AddCommand, common } from '../command.ts';
import { EXIT } from '../exit.ts';
import { type CommonFlags, print, printJson } from '../host.ts';
import { placeOf } from '../place.ts';

/** `trialbed down`. */
export const addDown: AddCommand = (program, { host, action }) => {
  const command = program
    .command('down')
    .summary('stop the services that "up" keeps')
    .description('Stop the services that "trialbed up" keeps. Their data stays. Where processes still use them, they stop with the last of these.')
    .option('--force', 'stop them under their users, whose trials end as infrastructure errors or wait for the next start')
    .action(
      action(async (flags: CommonFlags & { readonly force?: true }) => {
        const [{ down }, { readSettings }] = await Promise.all([import('../../infra/services.ts'), import('../../worker/config.ts')]);
        const report = await down(readSettings(host.env, placeOf(host, flags)), flags.force ? { force: true } : {});
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
        return EXIT.ok;
      }),
    );
  common(command, ['down', 'down --force']);
};
