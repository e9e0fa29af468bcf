import { canonicalText } from '../domain/text/canonical.ts';
import type { ReferenceVerdict } from '../domain/recorded.ts';
import { printable } from '../domain/text/bounded.ts';
import type { Json } from '../domain/json.ts';
import { resolveEnvironment } from '../environments/load.ts';
import type { GoldCall } from '../environments/retail/tasks.ts';
import type { EnvironmentSource } from '../environments/world.ts';
import type { RecordedCall, RecordedRun, RunFacts, RunStart } from './run.ts';

/** World time and user of every retail task. No tool asks who is calling. */
export const TAU_BENCH_START: RunStart = {
  clock: '2024-05-15T15:00:00-04:00',
  timezone: 'America/New_York',
  permission: { user: 'agent', role: 'agent', tools: [], attributes: {} },
};

export function retailEnvironment(data: string): EnvironmentSource {
  return { file: resolveEnvironment('retail', data), options: { data } };
}

/** A call whose arguments are values already. */
export function goldCall({ tool, args }: GoldCall): RecordedCall {
  return { source: `${tool} ${printable(JSON.stringify(args))}`, tool, args, unreadable: null };
}

/** A call as a chat holds one. Arguments are a JSON text; any other text, and anything that is no text, makes it a call that is refused as it stands. */
export function chatCall(name: string, args: unknown): RecordedCall {
  const tool = toolName(name);
  if (typeof args !== 'string') return { source: tool, tool, args: tool, unreadable: 'the arguments are no text' };
  const source = `${tool} ${printable(args)}`;
  try {
    return { source, tool, args: JSON.parse(args) as Json, unreadable: null };
  } catch {
    return { source, tool, args: source, unreadable: 'the arguments are no JSON' };
  }
}

/** A tool's name as a run holds it: text that is safe to print, cut where it is longer than that of any tool. */
export function toolName(name: string): string {
  return printable(name, MAX_NAME);
}

const MAX_NAME = 100;

/**
 * Which of the texts are in no message to the user. As the original looks for them: in one message, letter case aside, commas of the message left out, at no
 * boundary of words or numbers.
 */
export function unsaidOf(outputs: readonly string[], said: readonly string[]): readonly string[] {
  const messages = outputs.length === 0 ? [] : said.map((text) => text.toLowerCase().replaceAll(',', ''));
  return outputs.filter((output) => !messages.some((message) => message.includes(output.toLowerCase())));
}

/**
 * tau-bench has one verdict, the reward. Correct: the episode ended by itself, in the end state of the gold actions, and every output was said. The two others are
 * not published; they are found as for WorkBench. Unwanted side effects: something changed, and the end state is not that of the gold actions. Exact match: its
 * writes are those of the gold actions, in any order, arguments compared as JSON.
 */
export function judgeTauBench(run: RecordedRun, facts: RunFacts): ReferenceVerdict {
  const writes = (calls: readonly RecordedCall[]): string =>
    JSON.stringify(
      calls
        .filter(({ tool }) => facts.writeTools.has(tool))
        .map(({ tool, args }) => `${tool} ${canonicalText(args)}`)
        .sort(),
    );
  return {
    correct: run.error === '' && facts.sameAsGold && (run.unsaid ?? []).length === 0,
    sideEffects: facts.changed && !facts.sameAsGold,
    exact: writes(run.calls) === writes(run.gold),
  };
}
