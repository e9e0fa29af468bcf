import type { Case } from './case.ts';
import { type Quarantine, SEVERITIES, type Severity } from './trial-facts.ts';

/** What is said about a case and asks nothing of an agent: a case with other labels is the same case, and its results are compared. A batch keeps those it was made with. */
export interface CaseLabels {
  readonly tags: readonly string[];
  readonly severity: Severity;
  /** Null: it counts. */
  readonly quarantine: Quarantine | null;
}

export function labelsOf({ tags, severity = 'medium', quarantine }: Pick<Case, 'tags' | 'severity' | 'quarantine'>): CaseLabels {
  return { tags, severity, quarantine: quarantine ?? null };
}

/** A case without its labels: what makes it the same case. */
export function withoutLabels({ tags: _tags, severity: _severity, quarantine: _quarantine, ...rest }: Case): Case {
  return { ...rest, tags: [] };
}

/** The labels of one case. */
export interface LabelledCase extends CaseLabels {
  readonly case: string;
}

/** How many cases have each severity, the worst first; severities that none has are left out. */
export function severityCounts(cases: readonly Pick<CaseLabels, 'severity'>[]): readonly (readonly [Severity, number])[] {
  const counts = SEVERITIES.map((severity) => [severity, cases.filter((one) => one.severity === severity).length] as const);
  return counts.filter(([, count]) => count > 0).reverse();
}
