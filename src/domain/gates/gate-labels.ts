import { nearestName } from '../text/nearest.ts';
import { SEVERITIES } from '../trial-facts.ts';
import type { Chosen, Gate } from './gate.ts';
import { GateSyntaxError, parseGate } from './parse-gate.ts';

/** A tag of the name of a severity cannot be asked for: the severity is meant. */
export function isSeverity(label: string): boolean {
  return (SEVERITIES as readonly string[]).includes(label);
}

/** The first label of a gate that is neither a severity nor one of these tags. Null: there is none. */
export function strangeLabel({ chosen }: Pick<Gate, 'chosen'>, tags: readonly string[]): Chosen | null {
  return chosen.find(({ label }) => !isSeverity(label) && !tags.includes(label)) ?? null;
}

/** What a gate may name in brackets. */
export function gateLabels(tags: readonly string[]): readonly string[] {
  return [...SEVERITIES, ...new Set(tags)];
}

/** Holds gates against the tags of a suite's cases, before anything runs. @throws {GateSyntaxError} */
export function requireGateLabels(gates: readonly string[], tags: readonly string[]): void {
  for (const gate of gates) {
    const stranger = strangeLabel(parseGate(gate), tags);
    if (stranger !== null)
      throw new GateSyntaxError(gate.trim(), stranger.column, `no case of the suite has the tag "${stranger.label}"${labelHint(stranger.label, tags)}`);
  }
}

/** The nearest label, or those that there are. */
export function labelHint(label: string, tags: readonly string[]): string {
  const known = gateLabels(tags);
  const near = nearestName(label, known);
  return near === null ? `; there are: ${known.slice(0, MOST_NAMED).join(', ')}` : ` (did you mean "${near}"?)`;
}

const MOST_NAMED = 20;
