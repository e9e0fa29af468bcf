import { CATEGORY_TEXTS } from '../../domain/failure-category.ts';
import type { Gate } from '../../domain/gates/gate.ts';
import { judgeGates } from '../../domain/gates/judge-gates.ts';
import { parseGate } from '../../domain/gates/parse-gate.ts';
import type { GateResult } from '../../domain/gates/result.ts';
import type { ReportData } from '../data.ts';

/** One gate for one agent, in words. Names and tags in it are not escaped for any page. */
export interface GateRow {
  /** As it was written. */
  readonly gate: string;
  readonly agent: string;
  /** What it asks for. */
  readonly asked: string;
  /** What was held against that; null: there is no such figure. */
  readonly figure: string | null;
  /** 95%; null: a count has none. */
  readonly interval: string | null;
  /** What was compared: the figure itself, or an end of its interval. */
  readonly by: 'point' | 'lower bound' | 'upper bound';
  readonly result: GateResult['result'];
  /** Of how many of what, and what is missing. */
  readonly reason: string;
}

/** Every gate that a batch had to reach, for each agent; with none asked for, that every scored trial passes. */
export function gateRows({ batch, summary, facts }: Pick<ReportData, 'batch' | 'summary' | 'facts'>): readonly GateRow[] {
  return (summary.gates ?? judgeGates(facts, { today: batch.createdAt }).gates).map(rowOf);
}

/** What keeps a batch from its gate beside its gates, each in a sentence; none where they alone decide. */
export function gateNotes({ batch, summary, facts, quarantined }: Pick<ReportData, 'batch' | 'summary' | 'facts' | 'quarantined'>): readonly string[] {
  const open = facts.filter(({ ending }) => ending === null).length;
  const over = quarantined.filter((one) => one.over).length;
  const count = (number: number, what: string): string => `${number} ${number === 1 ? 'trial' : 'trials'} ${what}`;
  const notes: readonly (readonly [boolean, string])[] = [
    [open > 0, `${count(open, batch.state === 'running' ? 'still to come' : 'not done')}: the gate is not met before all have ended.`],
    [summary.infraErrors > 0, `${count(summary.infraErrors, 'without a result by trouble of the test bed')}: a gate on infra says how many may be.`],
    [(summary.userErrors ?? 0) > 0, `${count(summary.userErrors ?? 0, 'without a result by faults of the simulated user')}.`],
    [(summary.cassetteMisses ?? 0) > 0, `${count(summary.cassetteMisses ?? 0, 'without a recorded answer')}.`],
    [summary.cancelled > 0, `${count(summary.cancelled, 'cancelled')}.`],
    [summary.stopped !== undefined, 'The limit of costs kept trials from being launched.'],
    [over > 0, `${over} quarantined ${over === 1 ? 'case whose day is' : 'cases whose day is'} over: somebody has to decide.`],
  ];
  return notes.flatMap(([holds, text]) => (holds ? [text] : []));
}

function rowOf({ gate: text, agent, result, figure, interval, reason }: GateResult): GateRow {
  const gate = parseGate(text);
  const shown = (value: number): string => amount(gate, value);
  return {
    gate: text,
    agent,
    asked: askedText(gate),
    figure: figure === null ? null : shown(figure),
    interval: interval === undefined ? null : `${shown(interval.low)} to ${shown(interval.high)}`,
    by: gate.at === 'point' ? 'point' : `${gate.at} bound`,
    result,
    reason,
  };
}

/** `at most 2% of scored trials have a forbidden effect, in cases with critical`. */
function askedText(gate: Gate): string {
  const { figure, repeats, share, judge, chosen, comparison, value } = gate;
  const limit = `${COMPARISONS[comparison]} ${amount(gate, value)}`;
  const what = repeats
    ? `of cases pass in ${repeats.of === 'every' ? 'every one' : 'at least one'} of ${repeats.k} repetitions`
    : figure === 'pass' || judge
      ? `of scored trials pass${judge ? ` by the rubric ${judge.rubric}` : ''}`
      : share
        ? `of scored trials have any: ${wordsOf(figure)}`
        : wordsOf(figure);
  const where = chosen.length === 0 ? '' : `, in cases of ${chosen.map(({ label }) => label).join(' and ')}`;
  const bound = gate.at === 'point' ? '' : `, by the ${gate.at} bound of its interval`;
  return `${limit} ${what}${where}${bound}`;
}

const COMPARISONS: { readonly [comparison in Gate['comparison']]: string } = {
  '>=': 'at least',
  '<=': 'at most',
  '==': 'exactly',
  '>': 'more than',
  '<': 'less than',
};

const WORDS: { readonly [figure: string]: string } = {
  forbidden: 'effects that no case expects or allows',
  violations: 'trials that broke a rule of their case',
  false_claims: 'false statements about what was done',
  undetermined: 'trials that code could not decide',
  unknowns: 'calls of unknown outcome that were never cleared up',
  infra: 'trials that ended by trouble of the test bed',
  cost: 'in money, all attempts together',
  tokens: 'tokens, all attempts together',
};

function wordsOf(figure: Gate['figure']): string {
  const categories: { readonly [figure: string]: string } = CATEGORY_TEXTS;
  const category = categories[figure];
  return WORDS[figure] ?? (category === undefined ? figure.replaceAll('_', ' ') : `failed trials in which ${category}`);
}

function amount({ figure, share, judge }: Gate, value: number): string {
  return figure === 'pass' || share || judge ? `${Math.round(value * 10_000) / 100}%` : String(Number(value.toPrecision(6)));
}
