import type { LabelledCase } from '../domain/case-labels.ts';
import type { ValidationKind, ValidationReport, ValidationResult } from './api.ts';

/** Sums up what became of a suite's variants. A pure function. */
export function validationReport(
  suite: string,
  labels: readonly LabelledCase[],
  results: readonly ValidationResult[],
  warnings: ValidationReport['warnings'],
): ValidationReport {
  const mutants = results.filter((result) => result.variant !== 'reference' && result.variant !== 'do-nothing');
  const counts = countsOf(mutants);
  return {
    suite,
    cases: labels.length,
    labels,
    results,
    mutants: counts.made,
    killed: counts.killed,
    explained: counts.explained,
    survived: counts.survived,
    killRate: counts.made === 0 ? 1 : counts.killed / counts.made,
    kinds: [...Map.groupBy(mutants, kindOf)].map(([kind, ofKind]) => ({ kind, ...countsOf(ofKind), sameEnd: sameEndOf(ofKind) })),
    warnings,
    ok: results.every((result) => result.ok),
  };
}

/** What a mutant's id begins with: `drop` of `drop:2`. */
function kindOf(result: ValidationResult): string {
  return result.variant.split(':', 1)[0] ?? '';
}

function countsOf(mutants: readonly ValidationResult[]): Pick<ValidationKind, 'made' | 'killed' | 'explained' | 'survived'> {
  const killed = mutants.filter((result) => result.verdict === 'fail').length;
  const explained = mutants.filter((result) => result.verdict !== 'fail' && result.explained !== null && result.verdict !== 'infra_error').length;
  return { made: mutants.length, killed, explained, survived: mutants.length - killed - explained };
}

function sameEndOf(mutants: readonly ValidationResult[]): ValidationKind['sameEnd'] {
  const same = mutants.filter((result) => result.sameEnd);
  const codes = same.flatMap((result) => [...new Set(result.findings)]);
  return { made: same.length, findings: Object.fromEntries([...Map.groupBy(codes, (code) => code)].map(([code, all]) => [code, all.length])) };
}
