import type { RunEstimate } from '../client/api.ts';
import type { Basis, Range } from '../domain/estimate.ts';
import { holdsOn } from '../domain/quarantine.ts';
import { labelCounts, quarantineText } from './label-lines.ts';
import { amountText } from '../domain/confirmation.ts';
import { durationText } from '../report/duration-text.ts';
import { plainText } from '../report/plain-text.ts';
import type { Paint } from './host.ts';
import { type TableCell, textTable } from './table.ts';
import { wrap } from './trial-timeline.ts';

/** What a run would be and take, for people. */
export function estimateLines(estimate: RunEstimate, columns: number, paint: Paint): readonly string[] {
  const { suite, trials, concurrency, resumes } = estimate;
  const head = `${plainText(suite)}: ${counted(trials, 'trial')}, ${concurrency} at once`;
  const goesOn = resumes === null ? [] : [`goes on with batch ${resumes.batch}, of which ${resumes.done} are done`];
  const rows = groupsOf(estimate).map((group): TableCell[] => [
    plainText(group.agent),
    plainText(group.schedule),
    String(group.cases),
    String(group.trials),
    [...group.bases].map((basis) => WORDS[basis]).join(', '),
  ]);
  const table = textTable(['agent', 'faults', 'cases', 'trials', 'estimated from'], rows, { columns, headPaint: (text) => paint('bold', text) });
  return [
    paint('bold', head),
    ...goesOn,
    '',
    ...table,
    '',
    ...caseLines(estimate, columns),
    ...labelLines(estimate, columns, paint),
    '',
    ...amountLines(estimate).flatMap((line) => wrap(line, columns - 1)),
    ...basisLines(estimate)
      .flatMap((line) => wrap(line, columns - 1))
      .map((line) => paint('dim', line)),
  ];
}

const WORDS: { readonly [basis in Basis]: string } = {
  same: 'the same',
  case: 'other faults',
  agent: 'other cases',
  none: 'nothing',
};

interface Group {
  readonly agent: string;
  readonly schedule: string;
  cases: number;
  trials: number;
  readonly bases: Set<Basis>;
}

/** By agent and schedule, in the manifest's order. */
function groupsOf({ kinds }: RunEstimate): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const { agent, schedule, trials, basis } of kinds) {
    const key = JSON.stringify([agent, schedule]);
    const group = groups.get(key) ?? { agent, schedule, cases: 0, trials: 0, bases: new Set() };
    groups.set(key, group);
    group.cases++;
    group.trials += trials;
    group.bases.add(basis);
  }
  return [...groups.values()];
}

/** Cases with how many trials each has. */
function caseLines({ kinds }: RunEstimate, columns: number): readonly string[] {
  const trials = new Map<string, number>();
  for (const kind of kinds) trials.set(kind.case, (trials.get(kind.case) ?? 0) + kind.trials);
  const [first = 0] = trials.values();
  const equal = [...trials.values()].every((count) => count === first);
  const names = [...trials].map(([name, count]) => (equal ? plainText(name) : `${plainText(name)} ${count}`));
  const head = equal ? `${counted(trials.size, 'case')}, ${counted(first, 'trial')} each` : `${counted(trials.size, 'case')} with their trials`;
  return wrap(`${head}: ${names.join(', ')}`, columns - 1);
}

/** How severe the cases are, and which of them gate nothing. */
function labelLines({ labels, today }: RunEstimate, columns: number, paint: Paint): readonly string[] {
  return [
    ...wrap(`severity: ${labelCounts(labels)}`, columns - 1),
    ...labels.flatMap((one) => {
      const text = quarantineText(one, today);
      if (text === null || one.quarantine === null) return [];
      const over = !holdsOn(one.quarantine, today);
      return wrap(plainText(`${one.case}: ${text}`), columns - 1).map((line) => paint(over ? 'red' : 'yellow', line));
    }),
  ];
}

function amountLines({ seconds, tokens, cost, calls, unmeasured, basis, trials, maxCost }: RunEstimate): readonly string[] {
  if (basis.none === trials) return ['no earlier trial to estimate from: duration, tokens and money are not known'];
  const notSeen = calls === 0 ? 'the earlier trials called no model that was seen' : 'not measured in the earlier trials';
  const left = (count: number) =>
    count === 0 ? '' : `; ${counted(count, 'call')} of the earlier trials could not be measured and ${count === 1 ? 'is' : 'are'} left out`;
  const input = tokens && `${rangeText(tokens.input, countText)} in`;
  const output = tokens && `${rangeText(tokens.output, countText)} out`;
  const money = cost && Object.entries(cost).map(([currency, range]) => rangeText(range, (amount) => `${amountText(amount)} ${currency}`));
  return [
    ...(seconds === null ? [] : [`duration  ${rangeText(seconds, durationText)}`]),
    `tokens    ${tokens ? `${input}; ${output}${left(unmeasured.tokens)}` : notSeen}`,
    `money     ${money ? `${money.join(' + ')}${left(unmeasured.cost)}` : notSeen}${maxCost === null ? '' : `; no trial is launched beyond ${amountText(maxCost.amount)} ${maxCost.currency}`}`,
  ];
}

function basisLines({ basis, samples, trials, unpriced }: RunEstimate): readonly string[] {
  if (basis.none === trials) return [];
  const parts = [
    [basis.same, 'by the same case, faults and agent'],
    [basis.case, 'by the same case and agent under other faults'],
    [basis.agent, 'by other cases of the agent'],
  ] as const;
  const said = parts.filter(([count]) => count > 0).map(([count, how]) => `${count} ${how}`);
  return [
    `from ${counted(samples, 'earlier trial')}: ${said.join(', ')}`,
    ...(basis.none > 0 ? [`${counted(basis.none, 'trial')} left out: no earlier trial to estimate from`] : []),
    ...(unpriced > 0 ? [`what models cost in ${unpriced} of the trials is not known`] : []),
  ];
}

function rangeText({ likely, high }: Range, text: (value: number) => string): string {
  const [about, below] = [text(likely), text(high)];
  return about === below ? about : `about ${about}, nine times in ten below ${below}`;
}

function countText(count: number): string {
  return Math.round(count).toLocaleString('en-US');
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
