import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runFormat } from '../../src/recorded/formats.ts';
import { RecordedRunsError } from '../../src/recorded/run.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trialbed-tau-'));
  const find = { name: 'find_user_id_by_email', kwargs: { email: 'a@b.c' } };
  const cancel = { name: 'cancel_pending_order', kwargs: { order_id: '#W1', reason: 'no longer needed' } };
  const tasks = [
    { user_id: 'ann_1', instruction: 'Cancel it.', actions: [find, cancel], outputs: ['1234.5'] },
    { user_id: 'bob_2', instruction: 'Nothing.', actions: [], outputs: [] },
  ];
  await writeFile(join(folder, 'tasks_retail_test.json'), JSON.stringify(tasks));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const good = { task_id: 0, trial: 2, reward: 1, traj: [{ role: 'assistant', content: 'It was 1,234.50.' }] };
const stop = { role: 'user', content: '###STOP###' };

async function read(content: unknown, more: { name?: string; limit?: number; model?: string; from?: string } = {}) {
  const file = join(folder, more.name ?? 'gpt-9.json');
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return runFormat(more.from ?? 'tau-bench-runs').read(file, { limit: more.limit ?? null, data: folder, model: more.model ?? null });
}

async function problems(content: unknown, from?: string): Promise<readonly string[]> {
  try {
    await read(content, { name: 'runs.json', ...(from && { from }) });
  } catch (error) {
    if (error instanceof RecordedRunsError) return error.problems.map((problem) => problem.replaceAll(`${folder}/`, ''));
    throw error;
  }
  throw new Error('it was accepted');
}

describe('a file of results', () => {
  it('is a run for each entry, with the task that it names', async () => {
    const runs = await read([good, { task_id: 1, trial: 0, reward: 0.0, traj: [] }, { task_id: 1, traj: [] }]);
    expect(runs).toMatchObject([
      { line: 1, model: 'gpt-9', domain: 'retail', task: 'test-0 trial 2', query: 'Cancel it.', unsaid: [], error: '', published: { correct: true } },
      { line: 2, task: 'test-1 trial 0', gold: [], calls: [], published: { correct: false, sideEffects: null, exact: null } },
      { line: 3, task: 'test-1 trial 0', published: null },
    ]);
    expect(runs[0]?.gold.map((call) => call.tool)).toEqual(['find_user_id_by_email', 'cancel_pending_order']);
    expect(await read([good, good], { limit: 1 })).toHaveLength(1);
  });

  it('tells who ran: the entry, else the option, else the name of the file', async () => {
    const model = async (entry: object, more: object) => (await read([{ ...good, ...entry }], more))[0]?.model;
    expect(await model({ model: 'own' }, { model: 'given' })).toBe('own');
    expect(await model({}, { model: 'given' })).toBe('given');
    expect(await model({}, { name: 'sonnet-35-new-retail.json' })).toBe('sonnet-35-new-retail');
    expect(await model({}, { name: 'tool-calling-gpt-4o-0.0_range_0--1_user-gpt-4o-llm_0612.json' })).toBe('gpt-4o');
  });

  it('reads calls that agents write as text, where the name or another chat of the file tells so', async () => {
    const acts = { ...good, traj: [{ role: 'assistant', content: 'Action: {"name": "think", "arguments": {"thought": "x"}}' }] };
    const talks = { ...good, traj: [{ role: 'assistant', content: 'Thought: 1,234.50. Action: Hello.' }] };
    const calls = { ...good, traj: [{ role: 'assistant', content: 'Action: I think.', tool_calls: [{ function: { name: 'think', arguments: '{}' } }] }] };
    const told = async (entries: readonly unknown[], name?: string) =>
      (await read(entries, name === undefined ? {} : { name })).map((run) => [run.calls.length, run.unsaid?.length]);
    expect(await told([acts, talks, calls])).toEqual([
      [1, 1],
      [0, 1],
      [1, 1],
    ]);
    expect(await told([talks])).toEqual([[0, 0]]);
    expect(await told([talks], 'react-gpt-4o-0.0_range_0--1.json')).toEqual([[0, 1]]);
    expect(await told([acts], 'tool-calling-gpt-4o-0.0_range_0--1.json')).toEqual([[0, 1]]);
  });

  it('takes an episode that has no end for one that was not graded, where the file tells the ends', async () => {
    const [open, ended] = await read([good, { ...good, traj: [...good.traj, stop] }]);
    expect([open?.error, ended?.error]).toEqual([expect.stringContaining('never ended'), '']);
    expect((await read([good]))[0]?.error).toBe('');
    // The whole file tells it, whatever is read of it.
    expect((await read([good, { ...good, traj: [stop] }], { limit: 1 }))[0]?.error).not.toBe('');
  });

  it('takes over why the original gave up', async () => {
    const errors = (
      await read([
        { ...good, info: { error: 'timeout' } },
        { ...good, info: { error: { code: 1 } } },
        { ...good, info: {} },
      ])
    ).map((run) => run.error);
    expect(errors).toEqual(['timeout', expect.stringContaining('gave up'), '']);
  });

  it.each([
    [{ ...good, task_id: '0' }, 'task_id: '],
    [{ ...good, task_id: 2 }, 'task_id: there is no task 2; tasks_retail_test.json has 2'],
    [{ ...good, task_id: undefined }, 'task_id: '],
    [{ ...good, trial: -1 }, 'trial: '],
    [{ ...good, reward: '1' }, 'reward: '],
    [{ ...good, traj: undefined }, 'traj: '],
    [{ ...good, traj: [stop, { role: 'robot' }] }, 'traj.1.role: '],
    [{ ...good, traj: [{ role: 'user', content: 7 }] }, 'traj.0.content: expected a text'],
    [{ ...good, traj: [{ role: 'assistant', tool_calls: {} }] }, 'traj.0.tool_calls: '],
    [{ ...good, traj: [{ role: 'assistant', tool_calls: [{ function: { arguments: '{}' } }] }] }, 'traj.0.tool_calls.0.function.name: '],
    [{ ...good, info: { task: { user_id: 'bob_2' } } }, 'info.task.user_id: task 0 of tasks_retail_test.json is one of ann_1, not of bob_2'],
    [7, 'Invalid input: expected object'],
  ])('names the entry and the field: %j', async (entry, text) => {
    expect(await problems([good, entry])).toEqual([expect.stringContaining(`runs.json: entry at index 1: ${text}`)]);
  });

  it('has to be a list with something in it', async () => {
    expect(await problems('[\n  {"task_id": \n')).toEqual([expect.stringMatching(/^runs.json: this is no JSON \(.*\): "\[ \{"task_id":"$/)]);
    expect(await problems(good)).toEqual([expect.stringMatching(/^runs.json: expected a list of runs, found object/)]);
    expect(await problems([])).toEqual(['runs.json: there is no run in the file']);
    const many = await problems(Array.from({ length: 50 }, () => 7));
    expect([many.length, many.at(-1)]).toEqual([21, 'and 30 more entries like these']);
  });
});

describe('a file of spoilt solutions', () => {
  const mutation = { step: 1, name: 'cancel_pending_order', drop_equal: false, dup_equal: true, dup_observation_error: true };
  const line = { task: 0, empty_equal: false, outputs: ['1234.5'], mutations: [mutation] };

  it('is a run for each verdict', async () => {
    const runs = await read(JSON.stringify(line), { from: 'tau-bench-mutations' });
    expect(runs.map((run) => [run.tools, run.task, run.calls.map((call) => call.tool).join(), run.published?.correct])).toEqual([
      ['empty', 'test-0', '', false],
      ['drop', 'test-0 step 1', 'find_user_id_by_email', false],
      ['dup', 'test-0 step 1', 'find_user_id_by_email,cancel_pending_order,cancel_pending_order', true],
    ]);
  });

  it('names tasks and actions that are not there', async () => {
    const wrong = { ...line, mutations: [mutation, { ...mutation, step: 0 }, { ...mutation, step: 9 }] };
    expect(await problems([JSON.stringify({ ...line, task: 5 }), JSON.stringify(wrong)].join('\n'), 'tau-bench-mutations')).toEqual([
      expect.stringMatching(/^runs.json:1: task: there is no task 5/),
      'runs.json:2: mutations.1.name: action 0 of task 0 is find_user_id_by_email, not cancel_pending_order',
      'runs.json:2: mutations.2.name: action 9 of task 0 is not there, not cancel_pending_order',
    ]);
  });
});
