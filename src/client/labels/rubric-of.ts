import type { StoredRubric } from '../../domain/rubric.ts';
import { nearestName } from '../../domain/text/nearest.ts';
import type { BatchRow, Store } from '../../store/store.ts';
import { isFile } from '../../suite/places.ts';
import { readRubric } from '../../suite/rubric-file.ts';
import { NotFoundError } from '../api.ts';

/**
 * The rubric of a batch's suite by its name: as its file says it now, which the store then keeps; where the suite is not on this machine, the text that the store has seen last.
 *
 * @throws {SuiteFileError} for a file that is wrong or missing, with the names that there are
 * @throws {NotFoundError} where neither the suite nor the store has it
 * @throws {StoreConflictError} where the file has changed and its version has not
 */
export async function rubricOf(store: Pick<Store, 'judging'>, batch: Pick<BatchRow, 'suite' | 'suiteFile'>, name: string): Promise<StoredRubric> {
  if (await isFile(batch.suiteFile)) {
    const { rubric, digest, calibration } = await readRubric(batch.suiteFile, name);
    await store.judging.putRubric(batch.suite, { rubric, digest, calibration });
    return { rubric, digest, calibration };
  }
  const digest = await store.judging.latestRubric(batch.suite, name);
  const stored = digest === null ? null : await store.judging.rubric(digest);
  if (stored) return stored;
  const known = await store.judging.rubricNames(batch.suite);
  const meant = nearestName(name, known);
  const list = known.length === 0 ? 'it knows none of this suite' : `it knows ${known.join(', ')}`;
  throw new NotFoundError(
    `suite ${batch.suite} is not on this machine, and the store has seen no rubric ${JSON.stringify(name)} of it; ${list}${meant === null ? '' : ` (did you mean "${meant}"?)`}`,
  );
}
