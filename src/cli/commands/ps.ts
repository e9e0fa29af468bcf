import { type AddCommand, common, withClient } from '../command.ts';
import { EXIT } from '../exit.ts';
import { hintsFor } from '../hint.ts';
import { columnsOf, type CommonFlags, type Host, note, paintFor, print, printJson } from '../host.ts';
import { positiveInteger } from '../options.ts';
import { TRIAL_PHASES } from '../phases.ts';
import { textTable } from '../table.ts';
import type { BatchRow, TrialRow } from '../../store/store.ts';
import { trialState } from '../../report/matrix.ts';
import { plainText } from '../../report/plain-text.ts';

/** `trialbed ps [BATCH]`. */
export const addPs: AddCommand = (program, { host, action }) => {
  const command = program
    .command('ps')
    .summary('list batches, or the trials of one batch')
    .description('List batches, newest first: running, interrupted, finished. With a batch: its trials by phase.')
    .argument('[batch]', 'id of a batch')
    .option('--running', 'only batches that run now')
    .option('--limit <n>', 'at most so many batches', positiveInteger, 20)
    .action(
      action(async (batch: string | undefined, flags: PsFlags) => {
        await withClient(host, flags, async (client) => {
          if (batch === undefined) printBatches(host, flags, await client.batches({ limit: flags.limit, ...(flags.running && { running: true }) }));
          else printTrials(host, flags, await client.trials(batch));
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

function printBatches(host: Host, flags: CommonFlags, batches: readonly BatchRow[]): void {
  if (flags.json) {
    for (const batch of batches) printJson(host, { type: 'batch', ...batch });
    return;
  }
  if (batches.length === 0) {
    print(host, `no batches yet: "${hintsFor(host, flags)('run SUITE')}" makes one`);
    return;
  }
  const paint = paintFor(host.out);
  const colour = { running: 'cyan', interrupted: 'yellow', finished: 'green', cancelled: 'dim' } as const;
  const rows = batches.map((b) => [
    plainText(b.id),
    { text: b.state, paint: (text: string) => paint(colour[b.state], text) },
    `${b.done}/${b.trials}`,
    plainText(b.createdAt),
    plainText(b.suite),
  ]);
  for (const line of textTable(['batch', 'state', 'done', 'created', 'suite'], rows, { columns: columnsOf(host.out), headPaint: (t) => paint('bold', t) }))
    print(host, line);
  if (batches.some(({ state }) => state === 'interrupted')) note(host, 'nobody runs an interrupted batch: the command that began it goes on with it');
}

function printTrials(host: Host, flags: CommonFlags, trials: readonly TrialRow[]): void {
  if (flags.json) {
    for (const trial of trials) printJson(host, { ...trial, type: 'trial_row' });
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
    t.summary ? trialState(t.summary) : '',
    plainText(t.id),
  ]);
  for (const line of textTable(['phase', 'case', 'agent', ...(faults ? ['faults'] : []), 'rep.', 'attempt', 'verdict', 'trial'], rows, {
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
