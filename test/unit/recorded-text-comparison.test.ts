import { describe, expect, it, test } from 'vitest';
import type { Case } from '../../src/domain/case.ts';
import type { RowEffect } from '../../src/domain/effect.ts';
import { grade } from '../../src/domain/grading/grade.ts';
import { matches, mismatches } from '../../src/domain/grading/match.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { TableFacts } from '../../src/domain/record.ts';
import { caseOf } from '../../src/recorded/grade-run.ts';
import { WORKBENCH_START } from '../../src/recorded/workbench.ts';

describe('a column whose texts are compared in a declared way', () => {
  it.each([
    ['Won', 'won', 'caseless', true],
    ['Won', 'won', 'exact', false],
    ['Won', 'won', undefined, false],
    ['2026-01-01 09:00', '2026-01-01T09:00', undefined, true],
    ['2026-01-01 09:00', '2026-01-01T09:00', 'exact', false],
    [{ one_of: ['A', 'B'] }, 'b', 'caseless', true],
    [{ not: 'B' }, 'b', 'caseless', false],
    [{ matches: '^quarterly' }, 'Quarterly report', 'caseless', true],
    [{ matches: '^quarterly' }, 'Quarterly report', 'exact', false],
    [{ gte: 'B' }, 'b', 'caseless', true],
    [null, '', 'caseless', false],
    [7, '7', 'exact', true],
  ] as const)('%j and %j, %s: %s', (matcher, value, text, result) => {
    expect(matches(matcher, value, undefined, text)).toBe(result);
  });
});

const tables: { readonly [table: string]: TableFacts } = { events: { key: ['id'], ignored: [], scale: {}, text: { name: 'caseless' } } };

function effect(before: JsonObject | null, after: JsonObject | null): RowEffect {
  const change = before === null ? 'insert' : after === null ? 'delete' : 'update';
  return { kind: 'row', seq: 1, table: 'events', change, key: { id: 1 }, before, after, operation: null, at: '' };
}

test('patterns of a case honour it, before and after', () => {
  const update = effect({ id: 1, name: 'Old' }, { id: 1, name: 'NEW' });
  expect(mismatches({ row: 'events', change: 'update', where: { name: 'new' }, before: { name: 'old' } }, update, { tables })).toEqual([]);
  expect(mismatches({ row: 'events', change: 'update', where: { name: 'new' } }, update, { tables: {} })).toHaveLength(1);
});

test('so does an end state that is to be as the reference leaves it', () => {
  const kase: Case = caseOf({ task: 't', query: 'q', domain: 'd' }, WORKBENCH_START);
  const record = (effects: readonly RowEffect[], reference: readonly RowEffect[]) => ({
    ending: 'completed' as const,
    operations: [],
    effects,
    messages: [],
    lateAttempts: [],
    tables,
    referenceEffects: reference,
    problem: null,
  });
  const created = (name: string) => [effect(null, { id: 1, name })];
  expect(grade(kase, '', record(created('Tech Roundup'), created('tech roundup'))).pass).toBe('pass');
  expect(grade(kase, '', record(created('Tech'), created('tech roundup'))).pass).toBe('fail');
  expect(grade(kase, '', record([effect({ id: 1, name: 'a' }, { id: 1, name: 'A' })], [])).pass).toBe('pass');
});
