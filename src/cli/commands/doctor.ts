import { plainText } from '../../report/plain-text.ts';
import { type AddCommand, common } from '../command.ts';
import { EXIT } from '../exit.ts';
import { type CommonFlags, paintFor, print, printJson } from '../host.ts';
import { placeOf } from '../place.ts';

/** `trialbed doctor`. */
export const addDoctor: AddCommand = (program, { host, action }) => {
  const command = program
    .command('doctor')
    .summary('what was found, what is missing, and how to get it')
    .description(
      'Look at everything that trialbed needs on this machine: what was found, what is missing, and how to get it. Starts nothing and changes nothing.',
    )
    .action(
      action(async (flags: CommonFlags) => {
        const { doctor } = await import('../../client/services.ts');
        const report = await doctor({ ...placeOf(host, flags), env: host.env });
        if (flags.json) {
          printJson(host, { type: 'doctor', ...report });
        } else {
          const paint = paintFor(host.out);
          const mark = { ok: paint('green', 'ok     '), warning: paint('yellow', 'warning'), missing: paint('red', 'missing') };
          for (const check of report.checks) {
            print(host, `${mark[check.state]}  ${plainText(`${check.name}: ${check.found}`)}`);
            if (check.advice) print(host, `         ${plainText(check.advice)}`);
          }
          print(host, report.ok ? 'everything that a run needs is there' : 'a run needs what is missing above');
        }
        return report.ok ? EXIT.ok : EXIT.infrastructure;
      }),
    );
  common(command, ['doctor', 'doctor --json']);
};
