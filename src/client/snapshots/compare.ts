import { grade } from '../../domain/grading/grade.ts';
import { type SnapshotDifference, snapshotDifferences } from '../../domain/snapshot-difference.ts';
import { canonicalText } from '../../domain/text/canonical.ts';
import type { Finding } from '../../domain/verdict.ts';
import type { Root } from '../../worker/root.ts';
import { SnapshotError } from './errors.ts';
import { findSnapshot, type FoundSnapshot, worldSnapshotOf } from './find.ts';

/** How two worlds differ at their ends. */
export interface SnapshotComparison {
  readonly first: string;
  readonly second: string;
  /** They began with the same rows. Where not, what neither trial touched is not compared. */
  readonly sameStart: boolean;
  readonly differences: readonly SnapshotDifference[];
}

/** How a world differs from what its case accepts. */
export interface ExpectedComparison {
  readonly snapshot: string;
  readonly case: string;
  /** The accepted end state that it is in; null: none, and then the nearest was compared. */
  readonly reached: string | null;
  /** What is missing, what differs, what is neither expected nor allowed. */
  readonly findings: readonly Finding[];
}

/** @throws {NotFoundError} @throws {SnapshotError} for worlds of different environments, which have nothing in common to compare */
export async function compareSnapshots(root: Pick<Root, 'store'>, first: string, second: string): Promise<SnapshotComparison> {
  const [a, b] = [await findSnapshot(root, first), await findSnapshot(root, second)];
  const [here, there] = [worldSnapshotOf(a), worldSnapshotOf(b)];
  if (here.generation !== there.generation)
    throw new SnapshotError(
      `${a.row.id} and ${b.row.id} are of different generations (${a.environment.name} ${here.generation.slice(0, 12)}, ${b.environment.name} ${there.generation.slice(0, 12)}): their worlds began with other data`,
    );
  const tables = a.record?.tables ?? b.record?.tables ?? {};
  const sameStart = canonicalText(json(here.state)) === canonicalText(json(there.state));
  return { first: a.row.id, second: b.row.id, sameStart, differences: snapshotDifferences(here.effects, there.effects, tables) };
}

/** @throws {NotFoundError} @throws {SnapshotError} where there is no record to judge by */
export async function compareWithExpected(root: Pick<Root, 'store'>, name: string): Promise<ExpectedComparison> {
  const found = await findSnapshot(root, name);
  const record = gradable(found);
  const verdict = grade(found.kase, found.caseHash, { ...record, effects: worldSnapshotOf(found).effects });
  const findings = [...verdict.outcome.findings, ...verdict.effects.findings].filter(
    ({ judgement, rule }) => judgement !== 'pass' && !rule.startsWith('expect.claims'),
  );
  return { snapshot: found.row.id, case: found.kase.id, reached: verdict.reached, findings };
}

function gradable({ record, row }: FoundSnapshot): NonNullable<FoundSnapshot['record']> {
  if (record === null)
    throw new SnapshotError(
      `the record of attempt ${row.attempt} of trial ${row.trial} was never made or was removed, so the world cannot be held against the case`,
    );
  // Also of an attempt that the harness or somebody ended, the world can be held against the case.
  return record.ending === 'infra_error' || record.ending === 'cancelled' ? { ...record, ending: 'completed' } : record;
}

function json<T>(value: T): Parameters<typeof canonicalText>[0] {
  return JSON.parse(JSON.stringify(value));
}
