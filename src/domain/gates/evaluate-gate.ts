import { passAtK, passHatK } from '../statistics/repeats.ts';
import type { Interval } from '../statistics/interval.ts';
import type { TrialFacts } from '../trial-facts.ts';
import type { GateJudge } from './gate-judge.ts';
import { judgeInGate } from './judge-in-gate.ts';
import { seriesName } from '../series-name.ts';
import type { GateResult } from './result.ts';
import { rateOf } from './rate.ts';
import { isScored, standingOf } from '../standing.ts';
import type { Gate } from './gate.ts';
import { isSeverity, labelHint, strangeLabel } from './gate-labels.ts';

/** Judges one gate for one agent over its trials. */
export function evaluateGate(gate: Gate, agent: string, trials: readonly TrialFacts[], judges: readonly GateJudge[] = []): GateResult {
  const told = (found: Found | string): GateResult => resultOf(gate, agent, found);
  const tags = trials.flatMap((one) => one.tags);
  const stranger = strangeLabel(gate, tags);
  if (stranger !== null) return told(`no case has the tag "${stranger.label}"${labelHint(stranger.label, tags)}`);
  const chosen = trials.filter((one) => gate.chosen.every(({ label }) => has(one, label)));
  const scored = chosen.filter(isScored);
  if (gate.figure === 'infra') return told({ figure: chosen.filter(({ ending }) => ending === 'infra_error').length, n: chosen.length, of: 'trial' });
  if (gate.figure === 'cost' || gate.figure === 'tokens') return told(spent(gate, chosen));
  if (scored.length === 0) return told('nothing was scored');
  const missing = chosen.filter((one) => standingOf(one) === 'missing');
  if (gate.judge) {
    const judge = judgeInGate(gate.judge, judges);
    return told(typeof judge === 'string' ? judge : judged(gate, judge, scored, missing.length));
  }
  if (gate.repeats) return told(repeated(gate, gate.repeats, scored, missing));
  if (gate.figure === 'pass' || gate.share) return told(share(gate, scored, missing.length));
  return told(counted(gate, scored));
}

interface Found {
  readonly figure: number;
  readonly n: number;
  /** What it is a figure of: one of them. */
  readonly of: string;
  readonly interval?: Interval;
  readonly note?: string;
}

function resultOf(gate: Gate, agent: string, found: Found | string): GateResult {
  if (typeof found === 'string') return { gate: gate.text, agent, result: 'not_judged', figure: null, n: 0, reason: found };
  const { interval, n } = found;
  const compared = gate.at === 'point' || !interval ? found.figure : gate.at === 'lower' ? interval.low : interval.high;
  const holds = compares(compared, gate.comparison, gate.value);
  const isShare = gate.figure === 'pass' || gate.figure === 'judge' || gate.share;
  const shown = (value: number): string => (isShare ? `${rounded(value * 100)}%` : String(Number(value.toPrecision(6))));
  const bounds = interval ? ` (95% interval ${shown(interval.low)} to ${shown(interval.high)})` : '';
  const subject = gate.at === 'point' ? shown(compared) : `the ${gate.at} bound is ${shown(compared)}`;
  const reason = `${subject} of ${many(n, found.of)}${bounds}${found.note ?? ''}`;
  return { gate: gate.text, agent, result: holds ? 'met' : 'not_met', figure: compared, ...(interval && { interval }), n, reason };
}

/** What a judge gave no category is missing, as a trial without a result is. */
function judged(gate: Gate, { series, rubric, judgements }: GateJudge, scored: readonly TrialFacts[], without: number): Found | string {
  const categories = new Map(judgements.map(({ trial, category }) => [trial, category]));
  const decided = scored.filter(({ trial }) => (categories.get(trial) ?? null) !== null);
  const missing = without + scored.length - decided.length;
  const again = scored.length > decided.length ? ` (\`trialbed judge BATCH --rubric ${series.rubric}\` goes on with those that are not judged)` : '';
  if (decided.length === 0) return `none of these trials has a judgement by ${seriesName(series)}${again}`;
  const found = shareOf(gate, decided, missing, ({ trial }) => rubric.passes.includes(categories.get(trial) ?? ''));
  if (typeof found === 'string') return `${found}${again}`;
  return { ...found, note: `${found.note ?? ''}${again}; ${seriesName(series)}` };
}

function share(gate: Gate, scored: readonly TrialFacts[], missing: number): Found | string {
  return shareOf(gate, scored, missing, (one) => (gate.figure === 'pass' ? one.pass === 'pass' : amountOf(gate, one) > 0));
}

/** A share counts what is missing against itself: as failed where much is asked for, as having it where little is. */
function shareOf(gate: Gate, scored: readonly TrialFacts[], missing: number, is: (one: TrialFacts) => boolean): Found | string {
  const { rate, interval } = rateOf(scored, is);
  if (rate === null) return 'nothing was scored';
  if (missing === 0) return { figure: rate, interval, n: scored.length, of: 'scored trial' };
  if (gate.comparison === '==') return notKnown(missing);
  const all = scored.length + missing;
  const worst = gate.comparison.startsWith('>') ? (value: number) => (value * scored.length) / all : (value: number) => (value * scored.length + missing) / all;
  return { figure: worst(rate), interval: { low: worst(interval.low), high: worst(interval.high) }, n: all, of: 'trial', note: against(missing) };
}

/** Repetitions of a case under one schedule are repetitions of one task. What is missing counts against the share, as in {@link share}. */
function repeated(
  { comparison }: Gate,
  { of, k }: NonNullable<Gate['repeats']>,
  scored: readonly TrialFacts[],
  missing: readonly TrialFacts[],
): Found | string {
  if (missing.length > 0 && comparison === '==') return notKnown(missing.length);
  const passes = (one: TrialFacts): boolean => (isScored(one) ? one.pass === 'pass' : comparison.startsWith('<'));
  const cases = [...Map.groupBy([...scored, ...missing], (one) => JSON.stringify([one.case, one.schedule])).values()].map((own) => ({
    ...(own[0] && { cluster: own[0].case }),
    passes: own.filter(passes).length,
    trials: own.length,
  }));
  const estimate = of === 'every' ? passHatK(cases, k) : passAtK(cases, k);
  if (estimate === null) return `no case has ${k} scored repetitions; expected at least \`--trials ${k}\``;
  const { mean, interval, clusters, leftOut } = estimate;
  const notes = [
    ...(leftOut > 0 ? [`; ${leftOut} with fewer than ${many(k, 'repetition')} left out`] : []),
    ...(missing.length > 0 ? [against(missing.length)] : []),
  ];
  return { figure: mean, interval, n: clusters, of: 'case', ...(notes.length > 0 && { note: notes.join('') }) };
}

/** Of all trials: what was spent on one without a result was spent as well. */
function spent(gate: Gate, trials: readonly TrialFacts[]): Found | string {
  if (gate.figure === 'cost') {
    const currencies = new Set(trials.flatMap(({ money }) => Object.keys(money ?? {})));
    if (currencies.size === 0) return 'no price of a model call is known';
    if (currencies.size > 1) return `costs are in ${[...currencies].sort().join(' and ')}, which cannot be added up`;
  }
  if (gate.figure === 'tokens' && trials.every(({ tokens }) => tokens === null)) return 'no model call was measured';
  return { figure: sumOf(gate, trials), n: trials.length, of: 'trial' };
}

function counted(gate: Gate, scored: readonly TrialFacts[]): Found {
  return { figure: sumOf(gate, scored), n: scored.length, of: 'scored trial' };
}

function sumOf(gate: Gate, trials: readonly TrialFacts[]): number {
  return trials.reduce((total, one) => total + amountOf(gate, one), 0);
}

function notKnown(missing: number): string {
  return `${many(missing, 'trial')} without a result, so that the share is not known`;
}

function against(missing: number): string {
  return `; ${many(missing, 'trial')} without a result ${missing === 1 ? 'counts' : 'count'} against it`;
}

function many(count: number, of: string): string {
  return `${count} ${of}${count === 1 ? '' : 's'}`;
}

/** What one trial adds to a figure that is counted. */
function amountOf({ figure }: Gate, one: TrialFacts): number {
  switch (figure) {
    case 'forbidden':
      return one.forbidden;
    case 'violations':
      return one.constraints === 'fail' ? 1 : 0;
    case 'false_claims':
      return one.findings.filter(({ code, judgement }) => code === 'false_claim' && judgement === 'fail').length;
    case 'undetermined':
      return one.pass === 'undetermined' ? 1 : 0;
    case 'unknowns':
      return one.unknowns;
    case 'cost':
      return Object.values(one.money ?? {}).reduce((sum, amount) => sum + amount, 0);
    case 'tokens':
      return (one.tokens?.input ?? 0) + (one.tokens?.output ?? 0);
    case 'pass':
    case 'infra':
      return 0;
    default:
      return one.category === figure ? 1 : 0;
  }
}

function has({ severity, tags }: TrialFacts, label: string): boolean {
  return isSeverity(label) ? severity === label : tags.includes(label);
}

function compares(value: number, comparison: Gate['comparison'], limit: number): boolean {
  switch (comparison) {
    case '>=':
      return value >= limit - SLACK;
    case '<=':
      return value <= limit + SLACK;
    case '==':
      return Math.abs(value - limit) <= SLACK;
    case '>':
      return value > limit + SLACK;
    case '<':
      return value < limit - SLACK;
  }
}

/** Of floating point: 0.1 + 0.2 is to be 0.3. */
const SLACK = 1e-9;

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
