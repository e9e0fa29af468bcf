import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { regradeRecorded } from '../../src/client/regrade-runs.ts';
import type { Json } from '../../src/domain/json.ts';
import { READ_TOOLS } from '../../src/environments/retail/read-tools.ts';
import { readTasks } from '../../src/environments/retail/tasks.ts';
import { WRITE_TOOLS } from '../../src/environments/retail/write-tools.ts';
import { toolkitsOf, DOMAINS } from '../../src/environments/workbench/domains.ts';
import { anyJson, DEEP, nested } from '../harness/any-json.ts';
import { DATASETS, requireOrSkip, skipTitle } from '../harness/requirements.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

const datasets = await requireOrSkip('datasets');
const SAMPLE = { numRuns: 60, seed: 4 };

/** Calls as nobody would make them, in real worlds: each is made or refused, every run is graded, and none shows in another. */
describe.skipIf(!datasets.met)(skipTitle('recorded runs that hold anything', datasets), () => {
  let testbed: Testbed;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trialbed-any-'));
    testbed = await startTestbed(inject('services'), { worker: false });
  });

  afterAll(async () => {
    await testbed?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const regrade = async (from: string, data: string, content: string) => {
    const file = join(folder, 'runs');
    await writeFile(file, content);
    return regradeRecorded(testbed.root, { from, file, data: join(DATASETS, data) });
  };

  /** Texts that would do something if anything ran them, and what PostgreSQL and JSON cannot hold. */
  const texts = (mark: string): readonly string[] => [
    `__import__("os").system("touch ${mark}")`,
    `$(touch ${mark})`,
    `\${process.mainModule.require("fs").writeFileSync("${mark}", "")}`,
    `'); drop table orders, emails cascade; select pg_sleep(60); --`,
    '\u0000',
    '\ud800',
    '(('.repeat(50_000),
    '(a+)+$',
    '#W1'.repeat(400_000),
  ];

  it('of tau-bench', { timeout: 300_000 }, async () => {
    const mark = join(folder, 'run-by-tau-bench');
    const tools = [...READ_TOOLS, ...WRITE_TOOLS];
    const value = fc.oneof(anyJson, fc.constantFrom(...texts(mark)));
    const known = fc
      .constantFrom(...tools)
      .chain(({ name, input }) => fc.record(Object.fromEntries(namesOf(input).map((key) => [key, value]))).map((args) => ({ name, args: args as Json })));
    const call = fc.oneof(known, fc.record({ name: fc.oneof(fc.constantFrom(...tools.map((tool) => tool.name)), fc.string()), args: value }));
    const odd = fc.sample(fc.array(call, { maxLength: 6 }), SAMPLE).map((calls) => [
      { role: 'assistant', tool_calls: calls.map(({ name, args }) => ({ function: { name, arguments: JSON.stringify(args) } })) },
      { role: 'assistant', content: `Action: ${JSON.stringify(calls)}` },
    ]);
    const deep = ['list', 'object'].map((kind) => [
      { role: 'assistant', tool_calls: [2_000, 4_000, DEEP].flatMap((levels) => tools.map(({ name }) => callOf(name, nested(kind as 'list', levels)))) },
    ]);
    const [task] = readTasks(join(DATASETS, 'tau-bench-retail'), 'test');
    const gold = [{ role: 'assistant', tool_calls: task?.gold.map(({ tool, args }) => callOf(tool, JSON.stringify(args))) }];
    const entries = [...odd, ...deep, gold].map((traj) => ({ task_id: 0, traj }));
    const report = await regrade('tau-bench-runs', 'tau-bench-retail', JSON.stringify([...entries, { task_id: 0, reward: 1, traj: gold }]));
    expect(report.totals).toMatchObject({ n: entries.length + 1, correct: 2, disagreements: 0 });
    expect(report.calls.invalidArguments).toBeGreaterThan(50);
    expect(existsSync(mark)).toBe(false);
  });

  it('of WorkBench', { timeout: 300_000 }, async () => {
    const mark = join(folder, 'run-by-workbench');
    const tools = toolkitsOf(DOMAINS).flatMap((toolkit) => toolkit.tools({ compat: false }));
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 20 }), fc.constantFrom(...texts(mark)));
    const known = fc
      .constantFrom(...tools)
      .chain(({ name, input }) =>
        fc.tuple(...namesOf(input).map((key) => text.map((one) => `${key}="${one}"`))).map((args) => `${name}.func(${args.join(', ')})`),
      );
    const odd = fc.sample(fc.tuple(fc.array(fc.oneof(known, text, anyJson), { maxLength: 6 }), anyJson), SAMPLE);
    const task = { model: 'm', tools: 'all', domain: 'email', row: 0, query: 'q', gold: ['email.delete_email.func(email_id="00000373")'] };
    const lines = [
      ...odd.map(([predicted, error]) => JSON.stringify({ ...task, predicted, error })),
      JSON.stringify({ ...task, predicted: ['DEEP'], error: 'DEEP' }).replaceAll('"DEEP"', nested('list', DEEP)),
      JSON.stringify({ ...task, predicted: task.gold, ref_correct: true, ref_unwanted_side_effects: false, ref_exact_match: true }),
    ];
    const report = await regrade('workbench-runs', 'workbench', lines.join('\n'));
    expect(report.totals).toMatchObject({ n: lines.length, correct: 1, exact: 1, disagreements: 0 });
    expect(report.calls.unreadable).toBeGreaterThan(30);
    expect(existsSync(mark)).toBe(false);
  });
});

function callOf(name: string, text: string): object {
  return { function: { name, arguments: text } };
}

/** Names of a tool's arguments. */
function namesOf(input: unknown): readonly string[] {
  return Object.keys((input as { readonly shape: object }).shape);
}
