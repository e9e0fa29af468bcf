import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runFormat } from '../../src/recorded/formats.ts';
import { gradeRun } from '../../src/recorded/grade-run.ts';
import type { RecordedRun } from '../../src/recorded/run.ts';
import { anyJson, DEEP, nested } from '../harness/any-json.ts';
import { call, recordOf } from './grading-builders.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trialbed-any-'));
  await writeFile(join(folder, 'tasks_retail_test.json'), JSON.stringify([{ user_id: 'ann_1', instruction: 'q', actions: [], outputs: ['10'] }]));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const WRITES = new Set(['cancel_pending_order', 'email.send_email']);
const names = fc.oneof(fc.constantFrom('cancel_pending_order', 'respond', 'transfer_to_human_agents', 'constructor', '__proto__', ''), fc.string());

/** Reads a file of these lines and grades each run as if every call had been made. */
async function graded(from: string, text: string) {
  const file = join(folder, 'runs');
  await writeFile(file, text);
  const format = runFormat(from);
  const runs = await format.read(file, { limit: null, data: folder, model: null });
  return runs.map((run) => gradeRun(format, run, ledgerOf(run), WRITES));
}

/** The calls in the ledger, every second one refused by its tool. */
function ledgerOf(run: RecordedRun) {
  const told = (at: number) => (at % 2 === 0 ? 'committed' : 'failed');
  return recordOf({
    referenceEffects: [],
    operations: run.calls.map(({ tool, args }, at) => call(at + 1, tool, args, { effect: 'write', told: told(at), known: told(at), result: args })),
  });
}

describe('a recorded run', () => {
  it('of WorkBench is graded whatever stands in its calls and its error', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyJson), anyJson, async (predicted, error) => {
        const line = { model: 'm', tools: 'all', domain: 'email', row: 0, query: 'q', predicted, gold: [], error };
        const [run] = await graded('workbench-runs', JSON.stringify(line));
        expect(run?.calls.made).toBe(predicted.length);
        expect(['pass', 'fail']).toContain(run?.product.pass);
      }),
    );
  });

  it('of tau-bench is graded whatever stands in its calls, texts and error', async () => {
    const content = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.json(),
      fc.json().map((json) => `Action: ${json}`),
      fc.constant(null),
    );
    const message = fc.record({
      role: fc.constantFrom('assistant', 'user', 'tool', 'system'),
      content,
      tool_calls: fc.option(fc.array(fc.record({ function: fc.record({ name: names, arguments: fc.oneof(fc.json(), anyJson) }) }), { maxLength: 3 })),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(message), anyJson, async (traj, error) => {
        const [run] = await graded('tau-bench-runs', JSON.stringify([{ task_id: 0, traj, info: { error } }]));
        expect(['pass', 'fail']).toContain(run?.product.pass);
      }),
    );
  });

  it.each(['list', 'object'] as const)(`may hold a %s as deep as ${DEEP} levels`, async (kind) => {
    const deep = nested(kind, DEEP);
    const line = { model: 'm', tools: 'all', domain: 'email', row: 0, query: 'q', gold: [] };
    const text = JSON.stringify({ ...line, predicted: ['DEEP'], error: 'DEEP' }).replaceAll('"DEEP"', deep);
    expect(await graded('workbench-runs', text)).toMatchObject([{ calls: { made: 1, unreadable: 1 }, product: { pass: 'fail' } }]);

    const one = { role: 'assistant', tool_calls: [{ function: { name: 'cancel_pending_order', arguments: deep } }] };
    const act = { role: 'assistant', content: `Action: {"name": "cancel_pending_order", "arguments": {"order_id": ${deep}}}` };
    const odd = JSON.stringify({ role: 'assistant', tool_calls: [{ function: { name: 'think', arguments: 'DEEP' } }] }).replace('"DEEP"', deep);
    const entries = [JSON.stringify([one, one]), JSON.stringify([act, act]), `[${odd}]`].map(
      (traj) => `{"task_id": 0, "traj": ${traj}, "info": {"error": ${deep}}}`,
    );
    const runs = await graded('tau-bench-runs', `[${entries.join()}]`);
    expect(runs.map((run) => [run.calls.made, run.product.pass])).toEqual([
      [2, 'fail'],
      [2, 'fail'],
      [1, 'fail'],
    ]);
  });
});
