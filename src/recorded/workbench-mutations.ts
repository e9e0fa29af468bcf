import { z } from 'zod';
import { readJsonLines } from './json-lines.ts';
import { RecordedRunsError, type RecordedRun, type RunFormat } from './run.ts';
import { judgeWorkbench, WORKBENCH_START, workbenchCall, workbenchEnvironment, workbenchTask } from './workbench.ts';

const line = workbenchTask.extend({
  /** By variant: correct, unwanted side effects. */
  verdicts: z.record(z.string(), z.tuple([z.boolean(), z.boolean()])),
});

/** Ways to spoil a solution, as the file names them: what becomes of its calls. */
export const VARIANTS: { readonly [variant: string]: (gold: readonly string[]) => readonly string[] } = {
  gold: (gold) => gold,
  empty: () => [],
  dup_first: (gold) => [...gold.slice(0, 1), ...gold],
  dup_last: (gold) => [...gold, ...gold.slice(-1)],
  drop_last: (gold) => gold.slice(0, -1),
  reversed: (gold) => gold.toReversed(),
  extra_email: (gold) => [...gold, 'email.send_email.func(recipient="mallory@evil.test", subject="x", body="y")'],
  wrong_recipient: (gold) => gold.map((call) => call.replaceAll(/\b(recipient|participant_email|assigned_to_email)="[^"]*"/g, '$1="mallory@evil.test"')),
};

/** Solutions of WorkBench tasks and ways to spoil them: one JSON object a line, which is a run for each variant that it has a verdict on. */
export const workbenchMutations: RunFormat = {
  name: 'workbench-mutations',
  environment: workbenchEnvironment,
  start: WORKBENCH_START,
  async read(file, { limit }) {
    const lines = await readJsonLines(file, line, limit);
    const problems = lines.flatMap(({ line: at, value }) =>
      Object.keys(value.verdicts)
        .filter((variant) => !Object.hasOwn(VARIANTS, variant))
        .map((variant) => `${file}:${at}: verdicts.${variant}: there is no such variant; there are ${Object.keys(VARIANTS).join(', ')}`),
    );
    if (problems.length > 0) throw new RecordedRunsError(problems);
    return lines.flatMap(({ line: at, value }) => Object.keys(value.verdicts).map((variant) => runOf(at, value, variant)));
  },
  judge: judgeWorkbench,
};

function runOf(at: number, value: z.output<typeof line>, variant: string): RecordedRun {
  const [correct, sideEffects] = value.verdicts[variant] ?? [null, null];
  return {
    line: at,
    model: 'gold',
    tools: variant,
    domain: value.domain,
    task: `${value.domain} ${value.row}`,
    query: value.query,
    calls: (VARIANTS[variant]?.(value.gold) ?? []).map(workbenchCall),
    gold: value.gold.map(workbenchCall),
    error: '',
    published: { correct, sideEffects, exact: null },
  };
}
