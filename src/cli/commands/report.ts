import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { writeBatchReport } from '../../client/report.ts';
import { nearestName } from '../../domain/text/nearest.ts';
import { REPORT_FORMATS, type ReportFormat } from '../../report/report.ts';
import { type AddCommand, common, withClient } from '../command.ts';
import { exitOf, reportFolder } from '../follow.ts';
import { gateLines } from '../gate-lines.ts';
import { type CommonFlags, note, paintFor, print, printJson } from '../host.ts';
import { gates } from '../options.ts';
import { plainText } from '../../report/plain-text.ts';
import { reportLines } from '../summary-lines.ts';

/** `trialbed report BATCH`. */
export const addReport: AddCommand = (program, { host, action }) => {
  const command = program
    .command('report')
    .summary('write the report of a batch')
    .description(
      'Write what a batch shows: the same files as run writes at its end. Of a batch that runs still, the report says so and is of the trials that are done; its gate is then not met.',
    )
    .argument('<batch>', 'id of the batch')
    .option('--format <formats>', `any of ${REPORT_FORMATS.join(', ')}, with commas between them (default: all)`, reportFormats)
    .option('--out <dir>', 'folder for the files (default: reports/BATCH in the home folder)')
    .option(
      '--gate <gate>',
      'what the batch has to reach, such as "pass>=0.9" or "forbidden[critical]==0" (repeatable: all must hold; default: as the batch was run with)',
      gates,
    )
    .option('--no-gate', 'exit 0 whatever the verdicts are; infrastructure errors still exit 3')
    .action(
      action(async (batch: string, flags: ReportFlags) => {
        const { data, files } = await withClient(host, flags, (client) =>
          writeBatchReport(client, {
            batch,
            folder: flags.out === undefined ? reportFolder(host, flags, batch) : resolve(host.cwd, flags.out),
            ...(flags.format && { formats: flags.format }),
            ...(flags.gate && { gates: flags.gate }),
          }),
        );
        if (flags.json) {
          printJson(host, {
            type: 'report_files',
            batch,
            state: data.batch.state,
            gate: data.summary.gate,
            ...(data.summary.gates && { gates: data.summary.gates }),
            files,
          });
        } else {
          for (const sentence of data.opening) print(host, plainText(sentence));
          for (const line of gateLines(data.summary, paintFor(host.out))) print(host, line);
          for (const line of reportLines(files)) note(host, line);
        }
        return exitOf(data.summary, flags.gate);
      }),
    );
  common(command, [
    'report ksu672m9bf',
    'report ksu672m9bf --format junit,csv --out ./results',
    "report ksu672m9bf --gate 'lower(pass)>=0.8' --gate 'forbidden==0'",
  ]);
};

interface ReportFlags extends CommonFlags {
  readonly format?: readonly ReportFormat[];
  readonly out?: string;
  /** False with `--no-gate`. */
  readonly gate?: readonly string[] | false;
}

function reportFormats(value: string): readonly ReportFormat[] {
  return value.split(',').map((part) => {
    const format = REPORT_FORMATS.find((one) => one === part.trim());
    if (format !== undefined) return format;
    const meant = nearestName(part.trim(), REPORT_FORMATS);
    throw new InvalidArgumentError(
      `It must be any of ${REPORT_FORMATS.join(', ')}, with commas between them${meant === null ? '' : `; did you mean ${meant}?`}`,
    );
  });
}
