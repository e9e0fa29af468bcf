import { InvalidArgumentError } from 'commander';
import { nearestName } from '../domain/text/nearest.ts';
import { SEVERITIES, type Severity } from '../domain/trial-facts.ts';

/** A severity, for an option that may be given several times. */
export function severities(value: string, before: readonly Severity[] | undefined): readonly Severity[] {
  const found = SEVERITIES.find((one) => one === value);
  if (found !== undefined) return [...(before ?? []), found];
  const near = nearestName(value, SEVERITIES);
  throw new InvalidArgumentError(`It must be one of ${SEVERITIES.join(', ')}${near === null ? '' : ` (did you mean "${near}"?)`}.`);
}
