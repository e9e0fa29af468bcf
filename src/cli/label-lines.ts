import { type CaseLabels, type LabelledCase, severityCounts } from '../domain/case-labels.ts';
import { holdsOn } from '../domain/quarantine.ts';

/** `critical; mail, money; in quarantine until 2027-01-31 (mara: the fixture lags)`. Not yet made safe for a terminal. */
export function labelText({ severity, tags, quarantine }: CaseLabels): string {
  const held = quarantine === null ? [] : [`in quarantine until ${quarantine.until} (${quarantine.owner}: ${quarantine.reason})`];
  return [severity, ...(tags.length > 0 ? [tags.join(', ')] : []), ...held].join('; ');
}

/** `2 critical, 1 low; 1 in quarantine`. */
export function labelCounts(cases: readonly LabelledCase[]): string {
  const severities = severityCounts(cases).map(([severity, count]) => `${count} ${severity}`);
  const held = cases.filter(({ quarantine }) => quarantine !== null).length;
  return `${severities.join(', ')}${held > 0 ? `; ${held} in quarantine` : ''}`;
}

/** Null: the case is in no quarantine. `today`: ISO 8601. Not yet made safe for a terminal. */
export function quarantineText({ quarantine }: Pick<CaseLabels, 'quarantine'>, today: string): string | null {
  if (quarantine === null) return null;
  const { until, owner, reason } = quarantine;
  return holdsOn(quarantine, today)
    ? `in quarantine until ${until} and gates nothing (${owner}: ${reason})`
    : `its quarantine is over since ${until}, and no gate is met (${owner}: ${reason})`;
}
