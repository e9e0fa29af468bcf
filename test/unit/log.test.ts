import { describe, expect, test } from 'vitest';
import { trialOfOwner } from '../../src/domain/trial.ts';
import { createLog } from '../../src/worker/log.ts';
import { fieldsOfStep, loggedAsStep } from '../../src/worker/step-log.ts';

function logged(write: (log: ReturnType<typeof createLog>) => void): { readonly text: string; readonly line: { readonly [field: string]: unknown } } {
  let text = '';
  write(
    createLog('debug', {
      write: (line) => {
        text += line;
      },
    }),
  );
  return { text, line: JSON.parse(text) };
}

describe('a line of the log', () => {
  test('no text in it commands a terminal or turns what is read, and it is what it was', () => {
    const said = 'a\u009b31mred\u007f \u202egnp.exe \u2028\u200bend\u001b[2J\n';
    const { text, line } = logged((log) => log.warn({ said }, said));
    expect([...text.trimEnd()].every((char) => char >= ' ' && !/[\u007f-\u009f\u200b-\u200f\u2028-\u202e]/.test(char))).toBe(true);
    expect(line).toMatchObject({ said, msg: said });
  });

  test('an error is told without its fields, bounded, and without passwords', () => {
    const cause = Object.assign(new Error('duplicate key'), { code: '23505', detail: 'Key (iban)=(DE00) already exists.' });
    const error = Object.assign(new Error(`no way to postgres://app:sesame@db/x, sent Bearer abcdefgh12345678 ${'x'.repeat(10_000)}`, { cause }), {
      row: 'secret',
    });
    const { text, line } = logged((log) => log.error({ err: error }, 'failed'));
    expect(text).not.toMatch(/sesame|abcdefgh12345678|DE00|secret"/);
    expect(text.length).toBeLessThan(12_000);
    expect(line['err']).toMatchObject({
      type: 'Error',
      message: expect.stringContaining('app:[secret]@db'),
      cause: { code: '23505', message: 'duplicate key' },
    });
  });

  test('of a step it names the trial, the batch, the attempt, and the operation', async () => {
    const { inbound, outbound } = loggedAsStep(undefined as never);
    let line: unknown;
    const next = async () => {
      line = logged((log) => log.info('here')).line;
    };
    await inbound?.execute?.({ args: [{ trial: 'b4-77', attempt: 2, operation: 'op-3' }], headers: {} }, next as never);
    expect(line).toMatchObject({ trial: 'b4-77', batch: 'b4', attempt: 2, operation: 'op-3', msg: 'here' });
    expect(fieldsOfStep()).toEqual({});
    // Of the SDK's lines as well, whose own `attempt` is the try of the step.
    const told = outbound?.getLogAttributes?.({ attempt: 5, activityType: 'operate', workflowId: 'b4-77' }, ((input: unknown) => input) as never);
    expect(told).toEqual({ trial: 'b4-77', batch: 'b4', attempt: 2, operation: 'op-3', step: 'operate', try: 5, workflowId: 'b4-77' });
  });
});

test.each([
  ['k2-0f.1', { trial: 'k2-0f', batch: 'k2', attempt: 1 }],
  ['k2-0f.12.reference', { trial: 'k2-0f', batch: 'k2', attempt: 12 }],
  ['validate-k2', {}],
  [null, {}],
])('whose a world is: %s', (owner, expected) => {
  expect(trialOfOwner(owner)).toEqual(expected);
});
