import { writeTrace } from '../../client/trace.ts';
import { plainText } from '../../report/plain-text.ts';
import { type AddCommand, common, withClient } from '../command.ts';
import { EXIT } from '../exit.ts';
import { type CommonFlags, note, print, printJson } from '../host.ts';
import { openInBrowser } from '../open-in-browser.ts';
import { positiveInteger } from '../options.ts';

interface TraceFlags extends CommonFlags {
  readonly out?: string;
  readonly attempt?: number;
  readonly open?: true;
}

/** `trialbed trace TRIAL`. */
export const addTrace: AddCommand = (program, { host, action }) => {
  const command = program
    .command('trace')
    .summary('write one trial, step by step, as an HTML file')
    .description(
      'Write a trial as one HTML file that opens offline in any browser: every call with what the agent was told and what the systems of record know, rows, mails and tickets before and after it, the faults, the conversation, and the verdict with the step that each finding came from. The file holds the data of the trial in clear.',
    )
    .argument('<trial>', 'id of the trial, or the beginning of it that only this trial has')
    .option('--out <file>', 'file to write, replaced where it is there (default: trace-TRIAL.html in the working folder)')
    .option('--attempt <n>', 'an earlier attempt (default: the one that counts)', positiveInteger)
    .option('--open', 'open it in the browser')
    .action(
      action(async (trial: string, flags: TraceFlags) => {
        const { attempt, out } = flags;
        const options = { trial, folder: host.cwd, ...(attempt !== undefined && { attempt }), ...(out !== undefined && { file: out }) };
        const written = await withClient(host, flags, (client) => writeTrace(client, options), { temporal: 'optional' });
        if (flags.json) printJson(host, { file: written.file, bytes: written.bytes, ...written.trace });
        else {
          print(host, plainText(written.file));
          note(host, 'it holds the data of the trial in clear: send it only to whom that may be shown');
        }
        if (flags.open) openInBrowser(host, written.file, 'file');
        return EXIT.ok;
      }),
    );
  common(command, ['trace ksu672m9bf-1f2a09c4 --open', 'trace ksu672m9bf-1f2a09c4 --out failed-refund.html', 'trace ksu672m9bf-1f2a09c4 --attempt 1']);
};
