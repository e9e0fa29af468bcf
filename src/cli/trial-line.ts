import type { TrialSummary } from '../domain/trial.ts';
import { trialState } from '../report/matrix.ts';
import { pad, plainText, shorten } from '../report/plain-text.ts';
import type { Paint } from './host.ts';

/** Widths of the columns case, agent, ending, verdict; the reason takes the rest. */
interface LineWidths {
  readonly kase: number;
  readonly agent: number;
  readonly ending: number;
  readonly verdict: number;
  readonly why: number;
}

/** Shares the columns of a terminal out. */
function lineWidths(columns: number): LineWidths {
  if (columns < 72) return { kase: Math.max(8, columns - 40), agent: 9, ending: 11, verdict: 12, why: 0 };
  const narrow = columns < 100;
  const kase = narrow ? 24 : 34;
  // Room for an agent and its fault schedule.
  const agent = narrow ? 12 : columns < 120 ? 16 : 28;
  const ending = 16;
  const verdict = 12;
  return { kase, agent, ending, verdict, why: Math.max(0, columns - kase - agent - ending - verdict - 8) };
}

/** Titles of the columns. */
export function headLine(columns: number): string {
  return cells(['case', 'agent', 'ending', 'verdict', 'why'], columns).join('  ').trimEnd();
}

/** A finished trial on one line, never wider than the terminal where the terminal has 48 columns or more. */
export function trialLine(trial: TrialSummary, columns: number, paint: Paint): string {
  const state = trialState(trial);
  const verdict = state === 'infra' || state === 'user' || state === 'miss' ? 'not scored' : state === 'cancelled' ? '' : state;
  const name = trial.repetition > 1 ? `${trial.case} #${trial.repetition}` : trial.case;
  const [kase = '', agent = '', ending = '', shown = '', why = ''] = cells([name, agentName(trial), trial.ending, verdict, trial.why ?? ''], columns);
  const colour = { pass: 'green', fail: 'red', undetermined: 'yellow', infra: 'yellow', user: 'yellow', miss: 'yellow', cancelled: 'dim' } as const;
  return [kase, agent, ending, paint(colour[state], why === '' ? shown.trimEnd() : shown), paint('dim', why)].join('  ').trimEnd();
}

/** An agent under its fault schedule, where it has one. */
export function agentName({ agent, schedule }: { readonly agent: string; readonly schedule: string }): string {
  return schedule === 'none' ? agent : `${agent} / ${schedule}`;
}

/** Foreign text made safe, cut and padded to the columns. */
export function cells(texts: readonly [string, string, string, string, string], columns: number): string[] {
  const widths = lineWidths(columns);
  return [widths.kase, widths.agent, widths.ending, widths.verdict, widths.why].map((width, column) => {
    const fitted = shorten(plainText(texts[column] ?? ''), width);
    return column === 4 ? fitted : pad(fitted, width);
  });
}
