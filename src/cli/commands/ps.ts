import type { Outcomes, RunningRow, Trialbed } from '../../client/api.ts';
import { durationText } from '../../report/duration-text.ts';
import { type AddCommand, common, withClient } from '../command.ts';
import { EXIT } from '../exit.ts';
import { hintsFor } from '../hint.ts';
import { columnsOf, type CommonFlags, type Host, note, paintFor, print, printJson } from '../host.ts';
import { positiveInteger } from '../options.ts';
import { TRIAL_PHASES } from '../phases.ts';
import { WAITS } from '../progress-lines.ts';
import { textTable } from '../table.ts';
import { agentName } from '../trial-line.ts';
import type { BatchRow, TrialRow } from '../../store/store.ts';
import { trialState } from '../../report/matrix.ts';
import { plainText } from '../../report/plain-text.ts';

/** `trialbed ps [BATCH]`. */
export const addPs: AddCommand = (program, { host, action }) => {
  const command = program
    .command('ps')
    .summary('list batches, or the trials of one batch')
    .description('List batches, newest first, with how far they are, and the trials under way. With a batch: its trials by phase.')
    .argument('[batch]', 'id of a batch')
    .option('--running', 'only batches that somebody works on now')
    .option('--limit <n>', 'at most so many batches', positiveInteger, 20)
    .action(
      action(async (batch: string | undefined, flags: PsFlags) => {
        await withClient(host, flags, async (client) => {
          if (batch === undefined) await listBatches(host, flags, client);
          else printTrials(host, flags, await client.trials(batch), await client.running({ batch, limit: MOST_RUNNING }));
        });
        return EXIT.ok;
      }),
    );
  common(command, ['ps', 'ps --running', 'ps ksu672m9bf']);
};

interface PsFlags extends CommonFlags {
  readonly running?: true;
  readonly limit: number;
}

/** Trials under way that a list of batches shows, and that are asked for their age. */
const MOST_SHOWN = 20;
const MOST_RUNNING = 1_000;

async function listBatches(host: Host, flags: PsFlags, client: Trialbed): Promise<void> {
  const batches = await client.batches({ limit: flags.limit, ...(flags.running && { running: true }) });
  const listed = new Set(batches.map(({ id }) => id));
  const outcomes = await client.outcomes([...listed]);
  const running = (await client.running({ limit: MOST_RUNNING })).filter(({ batch }) => listed.has(batch));
  if (flags.json) {
    for (const batch of batches) printJson(host, { type: 'batch', ...batch, outcomes: outcomes.get(batch.id) ?? NONE });
    for (const trial of running) printJson(host, { type: 'running', ...trial });
    return;
  }
  if (batches.length === 0) {
    print(host, flags.running ? 'nobody works on a batch now' : `no batches yet: "${hintsFor(host, flags)('run SUITE')}" makes one`);
    return;
  }
  printBatches(host, flags, batches, outcomes);
  if (running.length > 0) printRunning(host, running);
}

const NONE: Outcomes = { passed: 0, failed: 0, undetermined: 0, infraErrors: 0, cancelled: 0 };

function printBatches(host: Host, flags: CommonFlags, batches: readonly BatchRow[], outcomes: ReadonlyMap<string, Outcomes>): void {
  const paint = paintFor(host.out);
  const colour = { running: 'cyan', paused: 'yellow', cancelling: 'yellow', interrupted: 'yellow', finished: 'green', cancelled: 'dim' } as const;
  const rows = batches.map((b) => {
    const state = b.state === 'running' && b.hold !== null ? b.hold : b.state;
    const { passed, failed, undetermined, infraErrors } = outcomes.get(b.id) ?? NONE;
    return [
      plainText(b.id),
      { text: state, paint: (text: string) => paint(colour[state], text) },
      `${b.done}/${b.trials}`,
      String(passed),
      String(failed),
      [...(undetermined > 0 ? [`${undetermined} undetermined`] : []), ...(infraErrors > 0 ? [`${infraErrors} infra`] : [])].join(', '),
      plainText(b.createdAt.slice(0, 19).replace('T', ' ')),
      plainText(b.suite),
    ];
  });
  const head = ['batch', 'state', 'done', 'passed', 'failed', 'other', 'created (UTC)', 'suite'];
  for (const line of textTable(head, rows, { columns: columnsOf(host.out), headPaint: (t) => paint('bold', t) })) print(host, line);
  const alone = batches.find(({ state }) => state === 'interrupted');
  if (alone) note(host, `nobody works on an interrupted batch: the command that began it goes on with it, or "${hintsFor(host, flags)(`watch ${alone.id}`)}"`);
}

function printRunning(host: Host, running: readonly RunningRow[]): void {
  const paint = paintFor(host.out);
  print(host, '');
  const rows = running
    .slice(0, MOST_SHOWN)
    .map((t) => [plainText(t.trial), t.phase, durationText(t.seconds), String(t.attempt), plainText(t.case), plainText(agentName(t)), waitText(t)]);
  const head = ['trial under way', 'phase', 'age', 'attempt', 'case', 'agent', 'waits for'];
  for (const line of textTable(head, rows, { columns: columnsOf(host.out), headPaint: (t) => paint('bold', t) })) print(host, line);
  if (running.length > MOST_SHOWN) print(host, `and ${running.length - MOST_SHOWN} more`);
}

function printTrials(host: Host, flags: CommonFlags, trials: readonly TrialRow[], running: readonly RunningRow[]): void {
  const now = new Map(running.map((row) => [row.trial, row]));
  if (flags.json) {
    for (const trial of trials) {
      const { seconds, waits, outage } = now.get(trial.id) ?? { seconds: null, waits: null, outage: null };
      printJson(host, { ...trial, type: 'trial_row', age: seconds, waits, outage });
    }
    return;
  }
  const paint = paintFor(host.out);
  const inOrder = [...trials].sort((a, b) => TRIAL_PHASES.indexOf(a.phase) - TRIAL_PHASES.indexOf(b.phase));
  const faults = trials.some((t) => t.scheduleHash !== null);
  const rows = inOrder.map((t) => [
    t.phase,
    plainText(t.caseId),
    plainText(t.agentName),
    ...(faults ? [plainText(t.schedule)] : []),
    String(t.repetition),
    String(t.attempt),
    ageText(now.get(t.id)),
    t.summary ? trialState(t.summary) : '',
    plainText(t.id),
  ]);
  for (const line of textTable(['phase', 'case', 'agent', ...(faults ? ['faults'] : []), 'rep.', 'attempt', 'under way', 'verdict', 'trial'], rows, {
    columns: columnsOf(host.out),
    headPaint: (t) => paint('bold', t),
  }))
    print(host, line);
  print(host, '');
  print(
    host,
    TRIAL_PHASES.map((phase) => [phase, trials.filter((t) => t.phase === phase).length] as const)
      .filter(([, n]) => n > 0)
      .map(([phase, n]) => `${phase} ${n}`)
      .join(', '),
  );
}

/** Since when, and what it waits for. */
function ageText(row: RunningRow | undefined): string {
  if (row === undefined) return '';
  const waits = waitText(row);
  return `${durationText(row.seconds)}${waits === '' ? '' : `, waits for ${waits}`}`;
}

/** A service that is away is why the rest does not happen. */
function waitText({ outage, waits }: RunningRow): string {
  if (outage) return plainText(`${outage.service}: ${outage.reason}`);
  return waits === null ? '' : WAITS[waits];
}
