import { z } from 'zod';
import type { JsonObject } from '../../domain/json.ts';
import { nearestName } from '../../domain/text/nearest.ts';
import { readJson, RetailDataError } from './data.ts';
import { READ_TOOLS } from './read-tools.ts';
import { WRITE_TOOLS, WRITES } from './write-tools.ts';

/** Parts of the published tasks. */
export const SPLITS = ['test', 'dev'] as const;

export type Split = (typeof SPLITS)[number];

/** One task of the shop: a script for a simulated customer, the calls that solve it, and what the customer must be told. */
export interface Task {
  readonly split: Split;
  /** Place in the task file, from 0. */
  readonly number: number;
  readonly userId: string;
  readonly instruction: string;
  readonly gold: readonly GoldCall[];
  readonly outputs: readonly string[];
}

export interface GoldCall {
  readonly tool: string;
  readonly args: JsonObject;
}

/**
 * Reads the tasks of a split from `tasks_retail_<split>.json`.
 * @throws {RetailDataError} for a missing or malformed file, and a call that no tool takes.
 */
export function readTasks(folder: string, split: Split): readonly Task[] {
  const file = `tasks_retail_${split}.json`;
  const parsed = schema.safeParse(readJson(folder, file));
  if (!parsed.success) {
    throw new RetailDataError(parsed.error.issues.map((issue) => `${file}, task ${issue.path.map(String).join('.') || 'list'}: ${issue.message}`));
  }
  const tasks = parsed.data.map(
    ({ user_id: userId, instruction, actions, outputs }, number): Task => ({
      split,
      number,
      userId,
      instruction,
      gold: actions.map(({ name, kwargs }) => ({ tool: name, args: kwargs as JsonObject })),
      outputs,
    }),
  );
  const problems = tasks.flatMap((task) =>
    task.gold.flatMap((call, at) => callProblems(call).map((problem) => `${file}, task ${task.number}, action ${at}: ${problem}`)),
  );
  if (problems.length > 0) throw new RetailDataError(problems);
  return tasks;
}

/** Names of the gold's tools that change something, each once. */
export function writesOf(task: Task): readonly string[] {
  return [...new Set(task.gold.map((call) => call.tool))].filter((tool) => Object.hasOwn(WRITES, tool));
}

function callProblems({ tool: name, args }: GoldCall): readonly string[] {
  const tools = [...READ_TOOLS, ...WRITE_TOOLS];
  const tool = tools.find((candidate) => candidate.name === name);
  if (!tool) {
    const near = nearestName(
      name,
      tools.map((candidate) => candidate.name),
    );
    return [`unknown tool "${name}"${near === null ? '' : ` (did you mean "${near}"?)`}`];
  }
  const checked = tool.input.safeParse(args);
  const problems = checked.success ? [] : checked.error.issues.map((issue) => `${name}: ${issue.path.map(String).join('.')}: ${issue.message}`);
  // A step would read it as the result of an earlier one.
  return JSON.stringify(args).includes('${') ? [...problems, `${name}: an argument holds "\${", which a step cannot say`] : problems;
}

const schema = z.array(
  z.object({
    user_id: z.string(),
    instruction: z.string().min(1),
    actions: z.array(z.object({ name: z.string(), kwargs: z.record(z.string(), z.json()) })),
    outputs: z.array(z.string().regex(/\S/, 'expected a text that can be said')),
  }),
);
