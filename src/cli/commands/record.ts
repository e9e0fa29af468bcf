import { basename, dirname, relative, resolve } from 'node:path';
import type { RecordedCassette, RecordReport, RecordRequest } from '../../client/cassettes/record.ts';
import type { Json } from '../../domain/json.ts';
import { plainText } from '../../report/plain-text.ts';
import { type AddCommand, common, withClient } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { type CommonFlags, type Host, type Paint, paintFor, print, printJson } from '../host.ts';
import { assignment, collect, faultNames, positiveInteger } from '../options.ts';
import { Progress } from '../progress.ts';

interface RecordFlags extends CommonFlags {
  readonly agent?: readonly string[];
  readonly faults?: readonly string[];
  readonly variant?: string;
  readonly cassetteDir?: string;
  readonly with?: { readonly [name: string]: Json };
  readonly concurrency?: number;
  readonly models?: true;
  readonly effects?: true;
  readonly dryRun?: true;
  readonly yes?: true;
}

/** `trialbed record CASE`. */
export const addRecord: AddCommand = (program, { host, action }) => {
  const command = program
    .command('record')
    .summary('record what the tools answer in a case, to be replayed without a world')
    .description(
      'Run a case as a real trial and write what its tools answered, and what that did, into a cassette: one JSON file for each case and variant. Secrets, mail addresses and what the suite names ' +
        'are replaced before anything is written. A cassette that is there is recorded anew, and what differs is shown. "trialbed run --cassettes" plays them.',
    )
    .argument('<case>', 'SUITE/CASE, where CASE may be a glob, or the path of a case file')
    .option('--agent <name>', 'agent whose route is recorded (repeatable; default: reference)', collect)
    .option('--faults <names>', 'fault schedules of the suite under which it is recorded (default: none)', faultNames)
    .option('--variant <name>', "name of the cassette (default: the agent's, with that of its fault schedule)")
    .option('--cassette-dir <dir>', 'folder of the cassettes (default: cassettes in the folder of the suite)')
    .option('--with <name=value>', "option of the environment, over the suite's (repeatable; the value is JSON or text)", assignment)
    .option('--concurrency <n>', 'trials in flight', positiveInteger)
    .option('--models', "record also what the agent's model replies, for agents of kind model")
    .option('--effects', 'of cassettes that were drafted from traces: take only what their calls change, and keep what they answered')
    .option('--dry-run', 'show what would differ, and write nothing')
    .option('--yes', 'record also more than 5 cassettes at once')
    .action(
      action(async (written: string, flags: RecordFlags) => {
        const request = recordRequest(host, written, flags);
        await host.checks.recording(request);
        const progress = new Progress(host, 'trials');
        const report = await withClient(host, flags, (client) => client.record({ ...request, onProgress: (done, of) => progress.show(done, of) })).finally(() =>
          progress.end(),
        );
        if (flags.json) printJson(host, report);
        else for (const line of recordLines(report, host, paintFor(host.out))) print(host, line);
        return report.cassettes.some(({ state }) => state === 'not_recorded') ? EXIT.gateNotMet : EXIT.ok;
      }),
    );
  common(command, [
    'record support-desk/refund-within-policy',
    'record ./my-suite/cases/refund.yaml --agent careful',
    "record './my-suite/refund-*' --agent careful --faults mail-limited --dry-run",
    "record './my-suite/*' --yes",
    'record ./my-suite/refund --agent asker --models',
    'record ./my-suite/trace-5b8efff798038103 --effects',
  ]);
};

function recordRequest(host: Host, written: string, flags: RecordFlags): RecordRequest {
  return {
    ...caseOf(written),
    ...(flags.agent && { agents: flags.agent }),
    ...(flags.faults && { faults: flags.faults }),
    ...(flags.variant !== undefined && { variant: flags.variant }),
    ...(flags.cassetteDir !== undefined && { folder: resolve(host.cwd, flags.cassetteDir) }),
    ...(flags.with && { environmentOptions: flags.with }),
    ...(flags.concurrency !== undefined && { concurrency: flags.concurrency }),
    ...(flags.models && { models: true }),
    ...(flags.effects && { effects: true }),
    ...(flags.dryRun && { dryRun: true }),
    ...(flags.yes && { many: true }),
  };
}

/** `SUITE/CASE`, or the path of a case file. @throws {UsageError} */
function caseOf(written: string): Pick<RecordRequest, 'suite' | 'cases'> {
  if (/\.yaml$/.test(written) && basename(dirname(written)) === 'cases')
    return { suite: dirname(dirname(written)) || '.', cases: [basename(written, '.yaml')] };
  const at = written.lastIndexOf('/');
  const suite = written.slice(0, at);
  const kase = written.slice(at + 1);
  if (at <= 0 || kase === '')
    throw new UsageError(`"${written}" names no case; expected SUITE/CASE, such as support-desk/refund-within-policy, or the path of a case file`);
  return { suite, cases: [kase] };
}

/** What was recorded, for people. */
function recordLines(report: RecordReport, { cwd }: Host, paint: Paint): string[] {
  const lines = report.cassettes.flatMap((cassette) => cassetteLines(cassette, cwd, report.dryRun, paint));
  const count = (state: RecordedCassette['state']) => report.cassettes.filter((one) => one.state === state).length;
  const counts = [
    `${count('new')} new`,
    `${count('changed')} changed`,
    `${count('same')} as before`,
    ...(count('not_recorded') > 0 ? [`${count('not_recorded')} not recorded`] : []),
  ];
  return [...lines, '', `${counts.join(', ')}${report.dryRun ? '; nothing was written' : ''}`];
}

function cassetteLines(cassette: RecordedCassette, cwd: string, dryRun: boolean, paint: Paint): string[] {
  const name = plainText(`${cassette.case}@${cassette.variant}`);
  if (cassette.why !== null) return [`${paint('red', 'not recorded')} ${name}: ${plainText(cassette.why)}`];
  const hidden = Object.entries(cassette.hidden).map(([kind, count]) => `${count} ${plainText(kind)}`);
  const file = plainText(relative(cwd, cassette.file));
  const verb = { new: dryRun ? 'would be new' : 'new', changed: dryRun ? 'would change' : 'changed', same: 'as before', not_recorded: '' }[cassette.state];
  return [
    `${paint(cassette.state === 'same' ? 'dim' : 'green', verb)} ${name}: ${cassette.interactions} interactions, verdict ${cassette.verdict?.pass ?? 'none'}, ${file}`,
    ...(hidden.length > 0 ? [`  hidden: ${hidden.join(', ')}`] : []),
    ...cassette.differences.map((line) => `  ${plainText(line)}`),
    ...(cassette.moreDifferences > 0 ? [`  and ${cassette.moreDifferences} more`] : []),
  ];
}
