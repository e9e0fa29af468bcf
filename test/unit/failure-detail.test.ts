import { expect, test } from 'vitest';
import { failureDetail } from '../../src/activities/failure-detail.ts';
import { ToolFailure } from '../../src/environments/define.ts';

const databaseError = (over: object = {}) =>
  Object.assign(new Error('new row violates check constraint "amount_positive"'), {
    name: 'error',
    severity: 'ERROR',
    code: '23514',
    table: 'refunds',
    constraint: 'amount_positive',
    detail: 'Failing row contains (7, -1).',
    ...over,
  });

test("a database's error is told in its own words, without a stack", () => {
  const detail = failureDetail(databaseError(), []);
  expect(detail).toBe(
    'new row violates check constraint "amount_positive" (SQLSTATE 23514, table refunds, constraint amount_positive); Failing row contains (7, -1).',
  );
});

test('what a tool declares is told to the agent already: only its causes are the detail', () => {
  const failure = new ToolFailure('refused', 'no');
  expect(failureDetail(failure, [])).toBeNull();
  failure.cause = databaseError();
  expect(failureDetail(failure, [])).toMatch(/^new row violates/);
});

test('causes are followed, each said once, and a loop of them ends', () => {
  const inner = Object.assign(new Error(''), { code: 'ECONNREFUSED' });
  const outer: Error = new TypeError('fetch failed', { cause: inner });
  inner.cause = outer;
  expect(failureDetail(outer, [])).toBe('TypeError: fetch failed; caused by (ECONNREFUSED)');
});

test('no secret of the world, no password of a URL and no token is in it, however long the text', () => {
  const secret = 'S3cret/with+signs=';
  const text = `${'x'.repeat(1_990)}${secret} ${encodeURIComponent(secret)}`;
  for (const message of [text, `to postgres://tool:hunter2hunter2@127.0.0.1/db as ${secret}`, `Authorization: Bearer abcdefghijkl ${secret}`]) {
    const detail = failureDetail(new Error(message), [secret]) ?? '';
    expect(detail).not.toMatch(/S3cret|hunter2|abcdefghijkl/);
    expect(detail).toContain('[secret');
    expect(detail.length).toBeLessThanOrEqual(2_001);
  }
});
