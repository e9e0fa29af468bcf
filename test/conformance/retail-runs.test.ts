import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { readTasks, type Task } from '../../src/environments/retail/tasks.ts';
import type { AgreementReport } from '../../src/report/agreement.ts';
import { DATASETS, requireOrSkip, skipTitle } from '../harness/requirements.ts';
import { type CommandPlace, commandPlace } from '../integration/cli-process.ts';

const datasets = await requireOrSkip('datasets');
const data = join(DATASETS, 'tau-bench-retail');

type Call = readonly [name: string, args: unknown];

/** Results made of the published solutions, in the form of the original's own files, through the command. */
describe.skipIf(!datasets.met)(skipTitle('results of tau-bench retail', datasets), () => {
  let folder: string;
  let place: CommandPlace;
  let tasks: readonly Task[];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trialbed-retail-runs-'));
    place = await commandPlace(inject('services'));
    tasks = readTasks(data, 'test');
  });

  afterAll(async () => {
    await place?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const taskOf = (number: number): Task => tasks[number] as Task;
  const goldOf = (number: number): readonly Call[] => taskOf(number).gold.map(({ tool, args }) => [tool, args]);
  /** An episode with these calls, and with all that the task wants to be said, unless told otherwise. */
  const entry = (task: number, calls: readonly Call[], reward: number, said: readonly string[] = [`Done. ${taskOf(task).outputs.join('; ')}`]) => ({
    task_id: task,
    trial: 0,
    reward,
    traj: chat(taskOf(task), calls, said),
  });

  const regrade = async (
    results: readonly unknown[],
    ...more: readonly string[]
  ): Promise<{ readonly report: AgreementReport; readonly code: number | null }> => {
    const file = join(folder, 'made-up.json');
    await writeFile(file, JSON.stringify(results));
    return regradeFile('tau-bench-runs', file, ...more);
  };
  const regradeFile = async (from: string, file: string, ...more: readonly string[]) => {
    const { code, stdout, stderr } = await place.run('regrade', '--from', from, file, '--data', data, '--json', ...more);
    if (stdout === '') throw new Error(`no report, exit ${code}: ${stderr}`);
    const report = JSON.parse(stdout) as AgreementReport;
    process.stdout.write(`${from}: ${JSON.stringify(report.totals)}; ${report.seconds} s, ${report.runsPerSecond} runs a second\n`);
    return { report, code };
  };
  const sentences = (report: AgreementReport) => report.disagreements.map((one) => `entry ${one.line}, ${one.task}, ${one.about}: ${one.why}`);

  it('all 115 solutions get their reward', { timeout: 300_000 }, async () => {
    const { report, code } = await regrade(tasks.map((task) => entry(task.number, goldOf(task.number), 1)));
    expect(sentences(report)).toEqual([]);
    expect(report.totals).toEqual({ n: 115, correct: 115, side_effects: 0, exact: 115, stricter: 0, disagreements: 0 });
    expect(report.table).toEqual({ bothPass: 115, bothFail: 0, stricter: 0, referenceOnly: 0, oursOnly: 0 });
    expect(report.calls).toMatchObject({ made: 582, committed: 582 - 24, failed: 24, unreadable: 0, invalidArguments: 0 });
    expect(report.parts.correct).toEqual({ published: 115, agree: 115 });
    expect([report.models.map((model) => model.model), code]).toEqual([['made-up'], 0]);
    expect(report.seconds).toBeGreaterThan(0);
  });

  it('every published spoilt solution has the published end state, and a write that was made twice is in the ledger', { timeout: 600_000 }, async () => {
    const { report, code } = await regradeFile('tau-bench-mutations', join(data, 'tau_retail_test_mutations.jsonl'));
    expect(sentences(report)).toEqual([]);
    expect([report.totals.n, report.totals.disagreements, code]).toEqual([115 + 174 + 174, 0, 0]);
    const group = (variant: string) => report.groups.find((one) => one.tools === variant)?.table;
    expect(group('drop')).toMatchObject({ bothFail: 172, bothPass: 2 });
    expect(group('dup')).toMatchObject({ stricter: 174, bothPass: 0 });
    expect(group('empty')).toMatchObject({ bothPass: 11, bothFail: 104 });
    expect(report.stricterKinds).toEqual({ refused_repeat: 139, silent_overwrite: 35 });
    const refused = report.stricter.filter((one) => one.why.endsWith('the tool refused it.')).map((one) => one.task);
    expect(refused).toEqual(await refusedAsPublished());
  });

  it('what is left out, unsaid, not ended or no call has no reward; what is made twice has it, and fails by our rule', { timeout: 300_000 }, async () => {
    const gold = goldOf(0);
    const [exchange, arguments_] = gold.at(-1) as Call;
    const results = [
      entry(0, gold, 1),
      entry(0, gold.slice(0, -1), 0),
      entry(0, [...gold, ...gold.slice(-1)], 1),
      entry(0, [...gold.slice(0, -1), [exchange, JSON.stringify(arguments_).slice(0, -1)]], 0),
      entry(0, [['drop_all', {}], ['think', '7'], ['think', ''], ['cancel_pending_order', { order_id: '#W1' }], ...gold], 1),
      // Numbers as people write them.
      entry(62, goldOf(62), 1, ['It costs $302.67.', 'It lasts 20 Hours.']),
      entry(62, goldOf(62), 0, ['It costs $302.66.', 'It lasts 20 hours.']),
      entry(62, goldOf(62), 0, []),
      entry(numbered('1093.34'), goldOf(numbered('1093.34')), 1, ['You get $1,093.34 back.']),
      entry(numbered('1093.34'), goldOf(numbered('1093.34')), 0, ['You get 1.093,34 back.']),
      entry(10, [], 1),
      entry(0, gold, 1, ['x'.repeat(2_000_000)]),
      entry(0, [['think', { thought: 'y'.repeat(2_000_000) }], ['think', '['.repeat(100_000)], ...gold], 1),
      { ...entry(0, gold, 0), traj: chat(taskOf(0), gold, ['Done.']).slice(0, -1) },
      { ...entry(0, [], 0), traj: [] },
      // After a hand-over nothing is made.
      entry(
        10,
        [
          ['transfer_to_human_agents', { summary: 's' }],
          ['cancel_pending_order', { order_id: '#W6779827', reason: 'no longer needed' }],
        ],
        1,
      ),
      entry(10, [['cancel_pending_order', { order_id: '#W6779827', reason: 'no longer needed' }]], 0),
    ].map((one, trial) => ({ ...one, trial }));
    const { report, code } = await regrade(results, '--model', 'odd');
    expect(sentences(report)).toEqual([]);
    expect([report.totals.n, report.totals.correct, code]).toEqual([results.length, results.filter((one) => one.reward === 1).length, 0]);
    expect(report.stricter).toMatchObject([{ line: 3, task: 'test-0 trial 2', about: 'product', ours: false, reference: true }]);
    expect(report.stricterKinds).toEqual({ refused_repeat: 1 });
    expect(report.totals).toMatchObject({ stricter: 1, side_effects: 1 });
    expect(report.calls).toMatchObject({ unreadable: 3, unknownTool: 1 });
    expect(report.models.map((model) => model.model)).toEqual(['odd']);
  });

  it('agents that write their calls as text get their reward too', { timeout: 120_000 }, async () => {
    const asText = (task: number, reward: number, said?: readonly string[]) => {
      const one = entry(task, goldOf(task), reward, said);
      return { ...one, traj: one.traj.flatMap(textOf) };
    };
    // 10 ends with a hand-over; what 62 wants said counts in an answer, not in a thought.
    const { report, code } = await regrade([asText(0, 1), asText(10, 1), asText(22, 1), asText(62, 1), asText(62, 0, ['no', '20 hours'])]);
    expect(sentences(report)).toEqual([]);
    expect([report.totals.n, report.totals.correct, code]).toEqual([5, 4, 0]);
    expect(report.calls).toMatchObject({ unreadable: 0, unknownTool: 0, invalidArguments: 0 });
  });

  it('a row that was changed and brought back has its reward, and fails by our rule', { timeout: 120_000 }, async () => {
    const { report, code } = await regrade([entry(62, [...thereAndBack(), ...goldOf(62)], 1)]);
    expect(sentences(report)).toEqual([]);
    expect([report.totals.stricter, report.stricterKinds, code]).toEqual([1, { reverted_effect: 1 }, 0]);
  });

  it('a reward that is not ours is reported with its reason', { timeout: 120_000 }, async () => {
    const { report, code } = await regrade([entry(0, [], 1), entry(62, goldOf(62), 1, ['It lasts 20 hours.']), entry(0, goldOf(0), 0)]);
    expect(report.totals).toMatchObject({ n: 3, correct: 1, disagreements: 3 });
    expect(report.table).toEqual({ bothPass: 0, bothFail: 0, stricter: 0, referenceOnly: 2, oursOnly: 1 });
    expect(sentences(report)).toEqual([
      expect.stringMatching(/^entry 1, test-0 trial 0, correct: The end state: is there and should not be: orders /),
      expect.stringMatching(/^entry 1, test-0 trial 0, product: /),
      'entry 2, test-62 trial 0, correct: The end state is that of the solution. Not said to the user: "302.67".',
      'entry 2, test-62 trial 0, product: The user was not told "302.67".',
      'entry 3, test-0 trial 0, correct: The end state is that of the solution.',
      'entry 3, test-0 trial 0, product: The product finds nothing wrong.',
    ]);
    expect(code).toBe(1);
  });

  it('a file that is not right is refused before anything runs', { timeout: 120_000 }, async () => {
    const file = join(folder, 'wrong.json');
    await writeFile(file, JSON.stringify([entry(0, [], 1), { ...entry(0, [], 1), reward: 'yes' }, { ...entry(0, [], 1), task_id: 115 }]));
    const { code, stdout, stderr } = await place.run('regrade', '--from', 'tau-bench-runs', file, '--data', data);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('wrong.json: entry at index 1: reward: ');
  });

  /** The task that wants this text alone to be said. */
  function numbered(text: string): number {
    return tasks.findIndex((task) => task.outputs.join() === text);
  }

  /** An address that is changed and changed back. */
  function thereAndBack(): readonly Call[] {
    const { address } = users[taskOf(62).userId] as { address: Record<string, string> };
    const to = (city: string | undefined): Call => ['modify_user_address', { user_id: taskOf(62).userId, ...address, city }];
    return [to('Elsewhere'), to(address.city)];
  }
});

const users = datasets.met ? (JSON.parse(await readFile(join(data, 'users.json'), 'utf8')) as Record<string, unknown>) : {};

/** Tasks and steps of which the second call was refused, in the order of the file. */
async function refusedAsPublished(): Promise<readonly string[]> {
  const lines = (await readFile(join(data, 'tau_retail_test_mutations.jsonl'), 'utf8')).trim().split('\n');
  return lines
    .map((line) => JSON.parse(line) as { task: number; mutations: readonly { step: number; dup_observation_error: boolean }[] })
    .flatMap(({ task, mutations }) => mutations.filter((one) => one.dup_observation_error).map((one) => `test-${task} step ${one.step}`));
}

/** A chat as the original's agents hold it: a call a message, its result, at last what is told to the user, who ends it. Arguments that are text are taken as they are. */
function chat(task: Task, calls: readonly Call[], said: readonly string[]): readonly object[] {
  const called = calls.flatMap(([name, args], at) => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: `call_${at}`, type: 'function', function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) } }],
    },
    { role: 'tool', tool_call_id: `call_${at}`, name, content: 'result' },
  ]);
  return [
    { role: 'system', content: 'policy' },
    { role: 'user', content: task.instruction },
    ...called,
    ...said.flatMap((content) => [
      { role: 'assistant', content },
      { role: 'user', content: 'And?' },
    ]),
    { role: 'user', content: '###STOP###' },
  ];
}

interface ChatMessage {
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls?: readonly { readonly function: { readonly name: string; readonly arguments: string } }[];
}

/** A message as the original's agents hold it that write their calls into the text. */
function textOf(message: object): readonly object[] {
  const { role, content, tool_calls: [call] = [] } = message as ChatMessage;
  const act = (name: string, args: unknown) => `Thought:\nPerhaps 302.67.\nAction:\n${JSON.stringify({ name, arguments: args })}`;
  if (role === 'tool') return [{ role: 'user', content: `API output: ${content}` }];
  if (role !== 'assistant') return [message];
  return [{ role, content: call ? act(call.function.name, JSON.parse(call.function.arguments)) : act('respond', { content }) }];
}
