import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { type Blobs, blobs, moduleAgent } from './core-trials.ts';

let testbed: Testbed;
let suites: Blobs;
beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  suites = await blobs(testbed, 'core-details');
});
afterAll(async () => {
  await suites[Symbol.asyncDispose]();
  await testbed[Symbol.asyncDispose]();
});

/** An outcome that no trial of these tests reaches. */
const EXPECTS_A_NOTE = {
  expects_nothing: false,
  expect: { outcomes: [{ name: 'noted', effects: [{ row: 'notes', change: 'insert', where: { body: 'never written' } }] }] },
};

describe('why a tool failed', () => {
  it("is in the record in the database's own words, and the agent is not told", async () => {
    const calls = [
      { tool: 'add_twice', args: { body: 'a' } },
      { tool: 'add_twice', args: { body: 'b', words: 'no' } },
      { tool: 'defect', args: { message: 'x is not a function' } },
      { tool: 'refuse', args: { length: 3 } },
    ];
    const trial = await suites.run(moduleAgent('tells-problems.ts', { calls }));
    expect(trial).toMatchObject({ ending: 'completed', pass: 'pass', attempt: 1 });
    const record = await suites.record(trial);
    const [failed, declared, defect, plain] = record.operations;
    expect(failed).toMatchObject({ told: 'failed', known: 'failed', problem: { code: 'tool_error' } });
    expect(failed?.detail).toMatch(
      /^duplicate key value violates unique constraint "notes_pkey" \(SQLSTATE 23505, schema \S+, table notes, constraint notes_pkey\); Key \(id\)=\(77\) already exists\.$/,
    );
    // What a tool makes of a refusal in words of its own takes nothing from operators.
    expect(declared).toMatchObject({ told: 'failed', problem: { code: 'refused', message: 'no' } });
    expect(declared?.detail).toContain('SQLSTATE 23505');
    expect(defect).toMatchObject({ told: 'unknown', known: 'failed', detail: 'TypeError: x is not a function', problem: { code: 'internal_error' } });
    expect(plain).not.toHaveProperty('detail');
    const told = record.messages.at(-1)?.text ?? '';
    expect(told).toContain('tool_error');
    expect(told).not.toMatch(/notes_pkey|23505|detail/);
  });
});

describe('why a trial came to what it did', () => {
  const note = { tool: 'slow_read', args: {} };
  it.each([
    ['agent_error', { throws: 'no idea \u001b[31m\nsecond line' }, {}, /^the agent failed: RangeError: no idea \u001b\[31m; Expected an insert into notes/],
    ['agent_timeout', { stays: true }, { budget: { wall: '2s' } }, /^the agent ran out of time: The agent used up its 2000 ms\. Expected an insert into notes/],
    [
      'budget_exhausted',
      { calls: [note, note] },
      { budget: { calls: 1 } },
      /^the agent ran out of calls: The budget of 1 calls is used up\. Expected an insert into notes/,
    ],
  ])('%s: names the ending with its words, then what failed', async (ending, parameters, kase, why) => {
    const trial = await suites.run(moduleAgent('tells-problems.ts', parameters), { ...EXPECTS_A_NOTE, ...kase });
    expect(trial).toMatchObject({ ending, pass: 'fail', attempt: 1 });
    expect(trial.why).toMatch(why);
    expect((await testbed.root.store.attempts(trial.trial)).at(-1)?.problem?.message).not.toContain('Expected');
  });
});
