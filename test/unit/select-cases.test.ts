import { expect, test } from 'vitest';
import { severities } from '../../src/cli/severities.ts';
import { selectCases } from '../../src/client/select.ts';
import { caseHash } from '../../src/suite/identity.ts';
import type { LoadedCase } from '../../src/suite/suite.ts';
import { caseWith } from './grading-builders.ts';

const CASES: readonly LoadedCase[] = [
  caseWith({}, { id: 'plain' }),
  caseWith({}, { id: 'grave', severity: 'critical', tags: ['mail'] }),
  caseWith({}, { id: 'light', severity: 'low', tags: ['mail'] }),
].map((kase) => ({ kase, file: `${kase.id}.yaml`, hash: caseHash(kase), lineOf: () => 1 }));

test('cases are chosen by severity, together with tags; one that says nothing is of medium severity', () => {
  const ids = (request: Parameters<typeof selectCases>[1]): readonly string[] => selectCases(CASES, request).map(({ kase }) => kase.id);
  expect(ids({ severities: ['medium'] })).toEqual(['plain']);
  expect(ids({ severities: ['critical', 'low'] })).toEqual(['grave', 'light']);
  expect(ids({ tags: ['mail'], severities: ['low', 'medium'] })).toEqual(['light']);
  expect(() => ids({ tags: ['mail'], severities: ['high'] })).toThrow('none of the chosen cases has the severity high; they have: low, critical');
});

test('an unknown severity is answered with the nearest', () => {
  expect(severities('low', ['high'])).toEqual(['high', 'low']);
  expect(() => severities('critcal', undefined)).toThrow('It must be one of low, medium, high, critical (did you mean "critical"?).');
});
