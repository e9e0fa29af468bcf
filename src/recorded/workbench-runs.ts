import { z } from 'zod';
import { anyText } from './any-text.ts';
import { readJsonLines } from './json-lines.ts';
import type { RunFormat } from './run.ts';
import { judgeWorkbench, WORKBENCH_START, workbenchCall, workbenchEnvironment, workbenchTask } from './workbench.ts';

/** One run a line. What the model called and why it ended may be of any type; the reference's verdict may be missing. */
const line = workbenchTask.extend({
  model: z.string(),
  tools: z.string(),
  predicted: z.array(z.unknown()),
  error: z.unknown().optional(),
  ref_correct: z.boolean().optional(),
  ref_unwanted_side_effects: z.boolean().optional(),
  ref_exact_match: z.boolean().optional(),
});

/** Runs of models on WorkBench tasks: one JSON object a line. */
export const workbenchRuns: RunFormat = {
  name: 'workbench-runs',
  environment: workbenchEnvironment,
  start: WORKBENCH_START,
  async read(file, { limit }) {
    return (await readJsonLines(file, line, limit)).map(({ line: at, value }) => ({
      line: at,
      model: value.model,
      tools: value.tools,
      domain: value.domain,
      task: `${value.domain} ${value.row}`,
      query: value.query,
      calls: value.predicted.map(workbenchCall),
      gold: value.gold.map(workbenchCall),
      error: errorText(value.error),
      published: publishedVerdict(value),
    }));
  },
  judge: judgeWorkbench,
};

/** Nothing, null and the empty text say that the run ended by itself; anything else is why it did not. */
function errorText(error: unknown): string {
  if (error === undefined || error === null) return '';
  return typeof error === 'string' ? error : anyText(error);
}

function publishedVerdict(value: z.output<typeof line>) {
  const { ref_correct: correct = null, ref_unwanted_side_effects: sideEffects = null, ref_exact_match: exact = null } = value;
  return correct === null && sideEffects === null && exact === null ? null : { correct, sideEffects, exact };
}
