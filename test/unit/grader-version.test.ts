import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { GRADER_VERSION } from '../../src/domain/grading/grade.ts';
import { type SavedVerdicts, savedRecords, VERDICTS, verdictsOf } from '../harness/saved-verdicts.ts';

/** `node scripts/save-records.ts` saves what is compared here, and does so for other verdicts only under another version. */
test('the verdicts on saved records of real trials are those of this version of the grader', async () => {
  const saved = JSON.parse(await readFile(VERDICTS, 'utf8')) as SavedVerdicts;
  expect(verdictsOf(await savedRecords())).toEqual(saved.verdicts);
  expect(saved.graderVersion).toBe(GRADER_VERSION);
});

test('the saved records meet what a grader can say', async () => {
  const { verdicts } = JSON.parse(await readFile(VERDICTS, 'utf8')) as SavedVerdicts;
  const met = new Set(Object.values(verdicts).flatMap((digest) => [...digest.matchAll(/\[(\w+) /g)].map(([, code]) => code)));
  const wanted = ['reached', 'missing_effect', 'wrong_value', 'forbidden_effect', 'duplicate_effect', 'repeated_write', 'constraint_violated'];
  const others = ['false_claim', 'missing_claim', 'undetermined_claim', 'undetermined_operation', 'cut_short'];
  expect([...wanted, ...others].filter((code) => !met.has(code))).toEqual([]);
});
