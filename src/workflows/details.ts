import type { OperationNote } from '../activities/contract.ts';
import { printable } from '../domain/text/bounded.ts';
import type { Gate } from './gate.ts';
import type { TrialPhase, TrialSummary } from '../domain/trial.ts';

/** Where a trial stands. */
export interface Standing {
  readonly case: string;
  readonly agent: string;
  readonly attempt: number;
  readonly phase: TrialPhase;
  /** Null before the agent acts. */
  readonly calls: {
    readonly made: number;
    readonly budget: number;
    readonly inFlight: readonly string[];
    readonly notes: readonly OperationNote[];
    readonly waiting?: Gate['waiting'];
  } | null;
  /** Null while it runs. */
  readonly summary: TrialSummary | null;
}

/** Calls that are listed, the last ones: an operator looks for what happens now. */
const LISTED = 5;
const MAX_SENTENCE = 400;

/** A trial for the Temporal UI, in Markdown: nothing that an agent or a world wrote is markup in it. */
export function detailsText({ case: kase, agent, attempt, phase, calls, summary }: Standing): string {
  const items: string[] = [`Phase: ${phase}`];
  if (calls) {
    items.push(`Calls: ${calls.made} of at most ${calls.budget}`);
    items.push(
      ...(calls.waiting ?? []).map(
        (call) => `Waits for an approval: ${escaped(call.id, 60)} ${escaped(call.tool, 80)}, digest ${call.digest ?? 'not known yet'}`,
      ),
    );
    if (calls.inFlight.length > 0) items.push(`In flight: ${calls.inFlight.map((id) => escaped(id, 60)).join(', ')}`);
    // The UI shows the items of a list below each other, and those of a list within it in one line.
    items.push(...calls.notes.slice(-LISTED).map((note) => `Call ${callText(note)}`));
  }
  if (summary) {
    items.push(`Ending: ${summary.ending}`, `Verdict: ${summary.pass ?? 'none'}`);
    if (summary.why !== null) items.push(`Why: ${escaped(summary.why, MAX_SENTENCE)}`);
    if (summary.disturbed) items.push('Disturbed: the test bed had to recover an operation');
  }
  return [`Case **${escaped(kase, 120)}** with agent **${escaped(agent, 120)}**, attempt ${attempt}`, '', ...items.map((item) => `- ${item}`)].join('\n');
}

function callText(note: OperationNote): string {
  const problem = note.problem === null ? '' : ` (${escaped(note.problem.code, 80)}: ${escaped(note.problem.message, 120)})`;
  return `${escaped(note.id, 60)} ${escaped(note.tool, 80)}: ${escaped(note.told, 40)}${problem}`;
}

/** Foreign text on one line: no markup, HTML or link of it has an effect. */
function escaped(text: string, max: number): string {
  return printable(text, max)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[\\`*_[\]<>&|~!#]/g, (character) => `\\${character}`)
    .replaceAll('://', '\\://')
    .replace(/www\./gi, (found) => `${found.slice(0, 3)}\\.`);
}
