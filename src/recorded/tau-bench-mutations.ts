import { z } from 'zod';
import { readTasks, type Task } from '../environments/retail/tasks.ts';
import { refuseIfAny } from './input-file.ts';
import { readJsonLines } from './json-lines.ts';
import type { RecordedCall, RecordedRun, RunFormat } from './run.ts';
import { goldCall, judgeTauBench, retailEnvironment, TAU_BENCH_START } from './tau-bench.ts';

/** One task. What is published is the state alone: equal to that of the gold actions, or not. */
const line = z.object({
  task: z.int().min(0),
  /** For an agent that does nothing. */
  empty_equal: z.boolean(),
  mutations: z.array(
    z.object({
      /** Index in the task's actions. */
      step: z.int().min(0),
      name: z.string(),
      /** Without that call. */
      drop_equal: z.boolean(),
      /** With that call made twice in a row. */
      dup_equal: z.boolean(),
    }),
  ),
});

type Line = z.output<typeof line>;

/** Solutions of retail tasks with one write left out or made twice: one JSON object a line, with a run for each verdict in it. Every output counts as said. */
export const tauBenchMutations: RunFormat = {
  name: 'tau-bench-mutations',
  environment: retailEnvironment,
  start: TAU_BENCH_START,
  async read(file, { limit, data }) {
    const lines = await readJsonLines(file, line, limit);
    const tasks = readTasks(data, 'test');
    refuseIfAny(
      lines.flatMap(({ line: at, value }) => problemsOf(value, tasks).map((problem) => `${file}:${at}: ${problem}`)),
      'lines',
    );
    return lines.flatMap(({ line: at, value }) => runsOf(at, value, tasks[value.task] as Task));
  },
  judge: judgeTauBench,
};

function problemsOf(value: Line, tasks: readonly Task[]): string[] {
  const task = tasks[value.task];
  if (!task) return [`task: there is no task ${value.task}; tasks_retail_test.json has ${tasks.length}, counted from 0`];
  return value.mutations.flatMap(({ step, name }, at) => {
    const found = task.gold[step]?.tool;
    return found === name ? [] : [`mutations.${at}.name: action ${step} of task ${value.task} is ${found ?? 'not there'}, not ${name}`];
  });
}

function runsOf(at: number, value: Line, task: Task): RecordedRun[] {
  const gold = task.gold.map(goldCall);
  const run = (variant: string, of: string, calls: readonly RecordedCall[], equal: boolean): RecordedRun => ({
    line: at,
    model: 'gold',
    tools: variant,
    domain: 'retail',
    task: `test-${task.number}${of}`,
    query: task.instruction,
    calls,
    gold,
    error: '',
    published: { correct: equal, sideEffects: null, exact: null },
  });
  return [
    run('empty', '', [], value.empty_equal),
    ...value.mutations.flatMap(({ step, drop_equal: dropped, dup_equal: twice }) => [
      run('drop', ` step ${step}`, gold.toSpliced(step, 1), dropped),
      run('dup', ` step ${step}`, gold.toSpliced(step, 0, ...gold.slice(step, step + 1)), twice),
    ]),
  ];
}
