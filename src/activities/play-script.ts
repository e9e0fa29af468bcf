import type { Case, ScriptStep, Solution } from '../domain/case.ts';
import type { DrawnRule } from '../domain/fault.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { Message } from '../domain/record.ts';
import { printable } from '../domain/text/bounded.ts';
import type { LoadedEnvironment, World } from '../environments/world.ts';
import { namesIn, resolveArguments, ScriptError, type StepResults } from '../suite/script.ts';
import { MAX_PROBLEM_LENGTH } from './check-call.ts';
import { checkCallUnder } from './fault-edge.ts';
import type { ScriptCursor, ScriptMove } from './contract.ts';
import type { Part } from './member-part.ts';
import { proposed } from './recorded-call.ts';

export interface ScriptStage {
  readonly world: World;
  readonly environment: LoadedEnvironment;
  readonly kase: Case;
  /** Rules of the trial's fault schedule. */
  readonly rules: readonly DrawnRule[];
  readonly solution: Solution;
  /** Of a team: whose part it is. Absent or null: the agent is no team. */
  readonly part?: Part | null;
  /** Stores a message of the conversation; the same turn and sender twice is one message. */
  readonly say: (message: Message) => Promise<void>;
}

/** Plays one step: proposes a call, says something, or gives the answer and ends. The same cursor gives the same move. */
export async function playStep(stage: ScriptStage, cursor: ScriptCursor): Promise<ScriptMove> {
  const { kase, solution, world, part = null } = stage;
  const by = part === null ? {} : { actor: part.member.name };
  if (cursor.step === 0 && !part?.handedWith) await stage.say({ turn: 1, from: 'user', text: kase.turns[0] ?? '' });
  const step = solution.steps[cursor.step];
  try {
    const results = await resultsOf(world, solution, cursor, step ?? [solution.answer, solution.data ?? null]);
    if (!step) {
      const text = String(resolveArguments(solution.answer, results));
      const data = solution.data ? (resolveArguments(solution.data, results) as JsonObject) : null;
      await stage.say({ turn: cursor.turn, from: 'agent', text, data, ...by });
      return { kind: 'end', problem: null };
    }
    if ('say' in step) {
      await stage.say({ turn: cursor.turn, from: 'agent', text: String(resolveArguments(step.say, results)), ...by });
      const next = kase.turns[cursor.turn];
      if (next !== undefined) await stage.say({ turn: cursor.turn + 1, from: 'user', text: next });
      return { kind: 'say', cursor: { ...cursor, step: cursor.step + 1, turn: cursor.turn + 1 } };
    }
    const id = `op-${cursor.calls + 1}`;
    const args = resolveArguments(step.with ?? {}, results);
    const made = { id, tool: step.call, args, idempotencyKey: step.key ?? null, ...(part && { actor: part.actor }) };
    const call = await proposed(world.ledger, checkCallUnder(stage.rules, stage.environment.environment, kase.permission, made));
    return { kind: 'call', call, cursor: { ...cursor, step: cursor.step + 1, calls: cursor.calls + 1 } };
  } catch (error) {
    if (error instanceof ScriptError) return { kind: 'end', problem: { code: 'script', message: printable(error.message, MAX_PROBLEM_LENGTH) } };
    throw error;
  }
}

/** How the earlier steps ended that `reader` names, and only those: a result may have megabytes. */
async function resultsOf(world: World, solution: Solution, cursor: ScriptCursor, reader: Json | ScriptStep): Promise<StepResults> {
  const wanted = namesIn(reader);
  const operations = new Map<string, string>();
  const done = solution.steps.slice(0, cursor.step);
  // Other members of a team have made calls before.
  let calls = cursor.calls - done.filter((step) => 'call' in step).length;
  for (const step of done) {
    if ('say' in step) continue;
    const id = `op-${++calls}`;
    if (step.as !== undefined && wanted.has(step.as)) operations.set(step.as, cursor.replays[id] ?? id);
  }
  const rows = await Promise.all([...operations].map(async ([name, id]) => [name, await world.ledger.read(id)] as const));
  return Object.fromEntries(
    rows.map(([name, row]) => [
      name,
      { ...(row && { operation: row.id }), state: row?.state ?? 'unknown', result: row?.result ?? null, problem: row?.problem ?? null },
    ]),
  );
}
