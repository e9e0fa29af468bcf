import type { TrialView } from '../client/api.ts';
import type { InjectedFault } from '../domain/fault.ts';
import { ruleText, runtimeTexts } from '../report/fault-words.ts';
import { plainText } from '../report/plain-text.ts';

/** One injected fault, on one line. */
export function injectedLine({ kind, rule, position, on, detail }: InjectedFault): string {
  const where = position === null ? on : `${on} ${position}`;
  return plainText(`fault ${kind} (rule ${rule + 1}, ${where}): ${detail}`);
}

/** Faults that hit an operation, and those that hit none, as at the start or in an agent's own client. In order of injection. */
export function injectedBy({ record }: Pick<TrialView, 'record'>): {
  readonly of: (operation: string) => readonly InjectedFault[];
  readonly rest: readonly InjectedFault[];
} {
  const injected = record?.faults?.injected ?? [];
  const known = new Set((record?.operations ?? []).map(({ id }) => id));
  return {
    of: (operation) => injected.filter((fault) => fault.operation === operation),
    rest: injected.filter((fault) => fault.operation === null || !known.has(fault.operation)),
  };
}

/** The trial's schedule, rule by rule, with how often each fired, and what production is like. Empty without a schedule. */
export function scheduleLines({ schedule, record }: Pick<TrialView, 'schedule' | 'record'>): string[] {
  if (schedule === null) return [];
  const faults = record?.faults;
  const lines = schedule.rules.map((rule, index) => {
    const fired = faults?.injected.filter((fault) => fault.rule === index).length ?? 0;
    const count = fired === 0 ? 'never fired: tested nothing' : fired === 1 ? 'fired once' : `fired ${fired} times`;
    return `${index + 1}  ${ruleText(rule)}${faults === undefined ? '' : ` (${count})`}`;
  });
  const production = faults === undefined ? [] : [`production: ${runtimeTexts(faults.runtime).join('; ')}`];
  return [...lines, ...production].map((line) => plainText(line));
}
