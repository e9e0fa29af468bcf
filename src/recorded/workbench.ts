import { z } from 'zod';
import type { ReferenceVerdict } from '../domain/recorded.ts';
import { printable } from '../domain/text/bounded.ts';
import { resolveEnvironment } from '../environments/load.ts';
import { parseCall } from '../environments/workbench/calls.ts';
import { DOMAINS } from '../environments/workbench/domains.ts';
import type { EnvironmentSource } from '../environments/world.ts';
import { anyText } from './any-text.ts';
import type { RecordedCall, RecordedRun, RunFacts, RunStart } from './run.ts';

/** World time and user of every WorkBench task. */
export const WORKBENCH_START: RunStart = {
  clock: '2023-11-30T00:00:00+00:00',
  timezone: 'UTC',
  permission: { user: 'sam', role: 'assistant', tools: [], attributes: {} },
};

/** What both WorkBench files say of a task. */
export const workbenchTask = z.object({
  domain: z.enum(DOMAINS),
  row: z.int().min(0),
  query: z.string(),
  gold: z.array(z.string()),
});

/** The office world with all of its parts: a run may call any tool, whatever its task needs. */
export function workbenchEnvironment(data: string): EnvironmentSource {
  return { file: resolveEnvironment('workbench', data), options: { data } };
}

/** Reads a call that a file holds; anything that is no call of the notation, of any type, becomes one that no tool takes. */
export function workbenchCall(source: unknown): RecordedCall {
  if (typeof source !== 'string') {
    const text = anyText(source);
    return { source: text, tool: 'unreadable', args: text, unreadable: 'it is no text' };
  }
  const call = parseCall(source);
  if (call.ok) return { source, tool: call.tool, args: call.args, unreadable: null };
  // A name of another form is that of no tool.
  if (call.name !== undefined) return { source, tool: printable(call.name, 100), args: source, unreadable: null };
  return { source, tool: printable(nameOf(source), 100), args: source, unreadable: call.problem };
}

/**
 * WorkBench's three verdicts. Correct: no error, and the end state of the solution, letter case aside. Unwanted side effects: something changed, and the end
 * state is not that of the solution; the error does not count. Exact match: the same texts of writes, in any order, letter case aside; nothing is run for it.
 */
export function judgeWorkbench(run: RecordedRun, facts: RunFacts): ReferenceVerdict {
  return {
    correct: run.error === '' && facts.sameAsGold,
    sideEffects: facts.changed && !facts.sameAsGold,
    exact: sameTexts(
      run.calls.map((call) => call.source).filter((source) => facts.writeTools.has(nameOf(source))),
      run.gold.map((call) => call.source),
    ),
  };
}

/** Toolkit and tool: the first two parts of what stands before the first parenthesis. */
function nameOf(source: string): string {
  return source.split('(', 1)[0]?.split('.').slice(0, 2).join('.') ?? '';
}

function sameTexts(some: readonly string[], others: readonly string[]): boolean {
  const sorted = (texts: readonly string[]): string => JSON.stringify(texts.map((text) => text.replaceAll('\n', '\\n').toLowerCase()).sort());
  return sorted(some) === sorted(others);
}
