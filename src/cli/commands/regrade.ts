import { resolve } from 'node:path';
import { Option } from 'commander';
import type { RegradeRunsRequest } from '../../client/api.ts';
import { agreementLines } from '../../report/agreement-text.ts';
import type { AgreementReport } from '../../report/agreement.ts';
import { plainText } from '../../report/plain-text.ts';
import { type AddCommand, common, withClient } from '../command.ts';
import { EXIT, InterruptedError, UsageError } from '../exit.ts';
import { columnsOf, type CommonFlags, type Host, note, print, printJson, settingsOf } from '../host.ts';
import { Interruption } from '../interruption.ts';
import { positiveInteger } from '../options.ts';
import { Progress } from '../progress.ts';

/** Names of the formats; reading them is no matter of the command line. */
const FORMATS = ['workbench-runs', 'workbench-mutations', 'tau-bench-runs', 'tau-bench-mutations'];

/** `trialbed regrade BATCH`, `trialbed regrade --from FORMAT FILE --data DIR`. */
export const addRegrade: AddCommand = (program, { host, action }) => {
  const command = program
    .command('regrade')
    .summary('grade stored records, or runs that others recorded, again')
    .description(
      'Grade the stored records of a batch again by the case files as they are now, without running an agent. The old verdicts stay; each names its grader and case.\n\n' +
        'With --from: make the calls of runs that others recorded again in fresh worlds, grade what results, and compare with the published verdicts.',
    )
    .argument('<what>', 'id of a batch; with --from the file of the runs')
    .addOption(new Option('--from <format>', 'how the file of recorded runs is written').choices(FORMATS))
    .option('--data <dir>', 'with --from: folder with the data of the originals')
    .option('--model <name>', 'with --from: who ran, where the file does not say it (default: as the file is called)')
    .option('--limit <n>', 'with --from: only the first lines (or entries) of the file', positiveInteger)
    .option('--concurrency <n>', 'with --from: runs in flight (default: 4)', positiveInteger)
    .action(
      action((what: string, flags: RegradeFlags) => (flags.from === undefined ? regradeBatch(host, what, flags) : regradeFile(host, what, flags.from, flags))),
    );
  common(
    command,
    ['regrade ksu672m9bf', 'regrade ksu672m9bf --json', 'regrade --from workbench-runs recorded_runs.jsonl --data ./workbench'],
    'With --from the exit code is 1 when a verdict disagrees with the published one; where ours is stricter by rule is no disagreement.',
  );
};

interface RegradeFlags extends CommonFlags {
  readonly from?: string;
  readonly data?: string;
  readonly model?: string;
  readonly limit?: number;
  readonly concurrency?: number;
}

async function regradeBatch(host: Host, batch: string, flags: RegradeFlags): Promise<number> {
  const foreign = (['data', 'model', 'limit', 'concurrency'] as const).filter((name) => flags[name] !== undefined);
  if (foreign.length > 0) throw new UsageError(`--${foreign.join(', --')} belong${foreign.length === 1 ? 's' : ''} to --from, which is not given`);
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
}

async function regradeFile(host: Host, file: string, from: string, flags: RegradeFlags): Promise<number> {
  if (flags.data === undefined) throw new UsageError('--from needs --data DIR, the folder with the data of the originals');
  const request: RegradeRunsRequest = {
    from,
    file: resolve(host.cwd, file),
    data: resolve(host.cwd, flags.data),
    ...(flags.model !== undefined && { model: flags.model }),
    ...(flags.limit !== undefined && { limit: flags.limit }),
    ...(flags.concurrency !== undefined && { concurrency: flags.concurrency }),
  };
  const read = await host.checks.recordedRuns(request);
  const report = await madeAgain(host, flags, { ...request, read });
  note(host, `${report.totals.n} runs in ${report.seconds.toFixed(1)} s, ${report.runsPerSecond.toFixed(1)} runs a second`);
  if (flags.json) printJson(host, { type: 'agreement', ...report });
  else for (const line of agreementLines(report, columnsOf(host.out))) print(host, line);
  return report.totals.disagreements > 0 ? EXIT.gateNotMet : EXIT.ok;
}

/** The first Ctrl-C lets the calls in flight end and gives their worlds back. */
async function madeAgain(host: Host, flags: RegradeFlags, request: RegradeRunsRequest): Promise<AgreementReport> {
  using interruption = new Interruption(host, flags, 'calls in flight end and their worlds are given back');
  const stop = new AbortController();
  interruption.raised.then(() => stop.abort(new InterruptedError(interruption.exit)));
  const progress = new Progress(host, 'runs');
  try {
    await using client = await host.connect(settingsOf(host, flags));
    stop.signal.throwIfAborted();
    return await client.regradeRuns({ ...request, signal: stop.signal, onProgress: (done, of) => progress.show(done, of) });
  } finally {
    progress.end();
  }
}
