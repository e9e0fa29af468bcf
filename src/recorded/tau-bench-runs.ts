import { basename, extname } from 'node:path';
import { z } from 'zod';
import { printable } from '../domain/text/bounded.ts';
import { readTasks, type Task } from '../environments/retail/tasks.ts';
import { refuseIfAny } from './input-file.ts';
import { problemAt, readJsonList } from './json-list.ts';
import type { RecordedRun, RunFormat } from './run.ts';
import { goldCall, judgeTauBench, retailEnvironment, TAU_BENCH_START, unsaidOf } from './tau-bench.ts';
import { callsInFields, callsInText, chatMessage, type Episode, episodeOf, type Notation } from './tau-bench-chat.ts';

/** One episode. */
const entry = z.object({
  /** Index in `tasks_retail_test.json`. */
  task_id: z.int().min(0),
  /** Repetition, from 0. */
  trial: z.int().min(0).default(0),
  reward: z.number().nullish(),
  traj: z.array(chatMessage),
  model: z.string().optional(),
  /** Of this: `error`, why the original gave up on the episode, and whose task it was. */
  info: z.object({ error: z.unknown().optional(), task: z.object({ user_id: z.string().optional() }).nullish() }).nullish(),
});

/**
 * Results of models on the retail tasks of tau-bench, as its own command writes them: a list of `{ task_id, trial, reward, traj }`.
 *
 * @throws {RetailDataError} from `read`, when the folder has no tasks.
 */
export const tauBenchRuns: RunFormat = {
  name: 'tau-bench-runs',
  environment: retailEnvironment,
  start: TAU_BENCH_START,
  async read(file, { limit, data, model }) {
    const entries = await readJsonList(file, entry);
    const tasks = readTasks(data, 'test');
    refuseIfAny(
      entries.flatMap((value, at) => taskProblems(value, tasks).map((problem) => problemAt(file, at, problem))),
      'entries',
    );
    const notation = notationIn(file, entries);
    const episodes = entries.map((value) => episodeOf(value.traj, notation(value)));
    // Files that leave the user's words out do not tell how an episode ended.
    const endsAreTold = episodes.some((episode) => episode.endedBy === 'user');
    return entries
      .slice(0, limit ?? entries.length)
      .map((value, at) =>
        runOf(value, at + 1, tasks[value.task_id] as Task, { episode: episodes[at] as Episode, model: value.model ?? model ?? modelOf(file), endsAreTold }),
      );
  },
  judge: judgeTauBench,
};

function taskProblems({ task_id: id, info }: z.output<typeof entry>, tasks: readonly Task[]): string[] {
  const task = tasks[id];
  if (!task) return [`task_id: there is no task ${id}; tasks_retail_test.json has ${tasks.length}, counted from 0`];
  const user = info?.task?.user_id;
  if (user === undefined || user === task.userId) return [];
  return [`info.task.user_id: task ${id} of tasks_retail_test.json is one of ${task.userId}, not of ${printable(user, 100)}; these are runs of other tasks`];
}

function runOf(
  value: z.output<typeof entry>,
  line: number,
  task: Task,
  { episode, model, endsAreTold }: { readonly episode: Episode; readonly model: string; readonly endsAreTold: boolean },
): RecordedRun {
  const { calls, said, endedBy } = episode;
  return {
    line,
    model,
    tools: 'all',
    domain: 'retail',
    task: `test-${task.number} trial ${value.trial}`,
    query: task.instruction,
    calls,
    gold: task.gold.map(goldCall),
    error: errorOf(value.info?.error) || (endsAreTold && endedBy === null ? 'the episode never ended, neither by the user nor by a hand-over' : ''),
    unsaid: unsaidOf(task.outputs, said),
    published: typeof value.reward === 'number' ? { correct: Math.abs(value.reward - 1) <= TOLERANCE, sideEffects: null, exact: null } : null,
  };
}

/** How far from 1 the original takes a reward for 1. */
const TOLERANCE = 1e-6;

function errorOf(error: unknown): string {
  if (error === undefined || error === null) return '';
  return typeof error === 'string' ? printable(error) : 'the original gave up on the episode';
}

/** The original calls its files `<strategy>-<model>-<temperature>_range_...`. */
const FILE_NAME = /^(?<strategy>tool-calling|act|react|few-shot)-(?<model>.+)-\d+(?:\.\d+)?_range_/;

/** Of a file of any other name all counts. */
function modelOf(file: string): string {
  const name = basename(file, extname(file));
  return FILE_NAME.exec(name)?.groups?.['model'] ?? name;
}

/**
 * The name of a file tells the strategy of the agents in it. Of any other name, a chat without calls in fields is one of an agent that writes them as text where
 * some chat of the file is plainly that.
 */
function notationIn(file: string, entries: readonly z.output<typeof entry>[]): (value: z.output<typeof entry>) => Notation {
  const strategy = FILE_NAME.exec(basename(file))?.groups?.['strategy'];
  if (strategy !== undefined) return () => (strategy === 'act' || strategy === 'react' ? 'text' : 'fields');
  const isText = entries.some((value) => callsInText(value.traj));
  return (value) => (isText && !callsInFields(value.traj) ? 'text' : 'fields');
}
