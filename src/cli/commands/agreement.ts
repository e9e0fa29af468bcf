import { resolve } from 'node:path';
import { plainText } from '../../report/plain-text.ts';
import { agreementLines } from '../agreement-lines.ts';
import { type AddCommand, common, withClient } from '../command.ts';
import { EXIT } from '../exit.ts';
import { columnsOf, type CommonFlags, note, paintFor, print, printJson } from '../host.ts';

interface AgreementFlags extends CommonFlags {
  readonly rubric: string;
  readonly export?: string;
}

/** `trialbed agreement BATCH...`. */
export const addAgreement: AddCommand = (program, { host, action }) => {
  const command = program
    .command('agreement')
    .summary('tell how judges and people agree')
    .description(
      "Tell how raters agree by one text of a rubric: each series of a judge with what most people said, and each two people. For each two: Cohen's kappa with its 95% interval, and how often the second gave what where the first gave what. " +
        'With --export, write the trials on which they differ as examples, with what raters saw.',
    )
    .argument('<batches...>', 'ids of the batches')
    .requiredOption('--rubric <name>', 'name of the rubric')
    .option(
      '--export <place>',
      'write disagreements: FILE.jsonl (a line for each), FILE.md (to read), or a folder for both; secrets and mail addresses are hidden',
    )
    .action(
      action(async (batches: readonly string[], flags: AgreementFlags) => {
        const request = { batches, rubric: flags.rubric };
        const out = flags.export === undefined ? null : resolve(host.cwd, flags.export);
        const { agreement, written } = await withClient(
          host,
          flags,
          async ({ labels }) => ({
            agreement: await labels.agreement(request),
            written: out === null ? null : await labels.exportDisagreements({ ...request, out }),
          }),
          { temporal: 'optional' },
        );
        if (flags.json) printJson(host, { type: 'agreement', ...agreement, ...(written && { export: written }) });
        else for (const line of agreementLines(agreement, columnsOf(host.out), paintFor(host.out))) print(host, line);
        if (written) note(host, `${written.examples} disagreements written: ${written.files.map((file) => plainText(file)).join(', ')}`);
        return EXIT.ok;
      }),
    );
  common(command, [
    'agreement ksu672m9bf --rubric tone',
    'agreement ksu672m9bf m3xq81tznw --rubric tone --export disagreements',
    'agreement ksu672m9bf --rubric tone --json | jq .pairs',
  ]);
};
