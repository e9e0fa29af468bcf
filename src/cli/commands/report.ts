import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import type { Trialbed } from '../../client/api.ts';
import { type BatchComparison, compareBatch } from '../../client/compare-batch.ts';
import { writeBatchReport } from '../../client/report.ts';
import { nearestName } from '../../domain/text/nearest.ts';
import type { ReportComparison } from '../../report/data.ts';
import { REPORT_FORMATS, type ReportFormat } from '../../report/report.ts';
import { type AddCommand, common, withClient } from '../command.ts';
import { sideOf } from './compare.ts';
import { UsageError } from '../exit.ts';
import { exitOf, reportFolder } from '../follow.ts';
import { gateLines } from '../gate-lines.ts';
import { type CommonFlags, note, paintFor, print, printJson } from '../host.ts';
import { gates, positiveInteger } from '../options.ts';
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
    .argument('<batch>', 'id of the batch, or name of a suite: its newest batch')
    .option('--format <formats>', `any of ${REPORT_FORMATS.join(', ')}, with commas between them (default: all)`, reportFormats)
    .option('--out <dir>', 'folder for the files (default: reports/BATCH in the home folder)')
    .option(
      '--gate <gate>',
      'what the batch has to reach, such as "pass>=0.9" or "forbidden[critical]==0" (repeatable: all must hold; default: as the batch was run with)',
      gates,
    )
    .option('--against <batch>', 'what is there, as BATCH or BATCH:AGENT: whether each agent of this batch is safer and more useful than that stands first')
    .option('--across-generations', 'with --against: compare trials of other generations of the environment too, and say so')
    .option('--series [n]', 'tell how the batches of its suite came to this one, at most the newest N (default: 60)', seriesLength)
    .option('--no-gate', 'exit 0 whatever the verdicts are; infrastructure errors still exit 3')
    .action(
      action(async (named: string, flags: ReportFlags) => {
        if (flags.acrossGenerations && flags.against === undefined) throw new UsageError('--across-generations needs --against');
        const { data, files, batch, comparisons } = await withClient(host, flags, async (client) => {
          const id = await batchOf(client, named);
          const comparisons = flags.against === undefined ? [] : await compareBatch(client, requestOf(id, flags.against, flags));
          const series = flags.series === undefined ? undefined : await client.series(id, flags.series === true ? {} : { limit: flags.series });
          const report = await writeBatchReport(client, {
            batch: id,
            folder: flags.out === undefined ? reportFolder(host, flags, id) : resolve(host.cwd, flags.out),
            comparisons,
            ...(series && { series }),
            ...(flags.format && { formats: flags.format }),
            ...(flags.gate && { gates: flags.gate }),
          });
          return { ...report, batch: id, comparisons };
        });
        if (flags.json) {
          printJson(host, {
            type: 'report_files',
            batch,
            state: data.batch.state,
            gate: data.summary.gate,
            ...(data.summary.gates && { gates: data.summary.gates }),
            ...(comparisons.length > 0 && { comparisons: comparisons.map(answersOf) }),
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
    'report m3xq81tznw --against ksu672m9bf',
    'report support-desk --series',
  ]);
};

interface ReportFlags extends CommonFlags {
  readonly format?: readonly ReportFormat[];
  readonly out?: string;
  readonly against?: string;
  readonly acrossGenerations?: true;
  /** True without a number. */
  readonly series?: number | true;
  /** False with `--no-gate`. */
  readonly gate?: readonly string[] | false;
}

/** What a program asks of a comparison first; `report.json` has all of it. */
function answersOf({ agent, against, comparison }: ReportComparison) {
  return { agent, against, safer: comparison?.safer.answer ?? null, useful: comparison?.useful.answer ?? null };
}

/** A batch by its id, else the newest of the suite of that name, forks left out. */
async function batchOf(client: Pick<Trialbed, 'batches'>, named: string): Promise<string> {
  const newest = await client.batches({ suite: named, limit: MOST_FORKS });
  return newest.find(({ options }) => options.fork === undefined)?.id ?? named;
}

function requestOf(batch: string, against: string, { acrossGenerations }: ReportFlags): BatchComparison {
  return { batch, against: sideOf(against), ...(acrossGenerations && { acrossGenerations }) };
}

function seriesLength(value: string): number {
  const length = positiveInteger(value);
  if (length > MOST_SERIES) throw new InvalidArgumentError(`It must be at most ${MOST_SERIES}.`);
  return length;
}

/** Newest batches among which one that is no fork is looked for. */
const MOST_FORKS = 100;

/** Points that a chart draws. */
const MOST_SERIES = 400;

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
