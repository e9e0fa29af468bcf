import type { Case, Solution } from '../domain/case.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Message } from '../domain/record.ts';
import type { LoadedEnvironment, World } from '../environments/world.ts';
import { resolveArguments, ScriptError, type StepResults } from '../suite/script.ts';
import { callRefOf, checkCall } from './check-call.ts';
import type { ScriptCursor, ScriptMove } from './contract.ts';

export interface ScriptStage {
  readonly world: World;
  readonly environment: LoadedEnvironment;
  readonly kase: Case;
  readonly solution: Solution;
  /** Stores a message of the conversation; the same turn and sender twice is one message. */
  readonly say: (message: Message) => Promise<void>;
}

/** Plays one step: proposes a call, says something, or gives the answer and ends. The same cursor gives the same move. */
export async function playStep(stage: ScriptStage, cursor: ScriptCursor): Promise<ScriptMove> {
  const { kase, solution, world } = stage;
  if (cursor.step === 0) await stage.say({ turn: 1, from: 'user', text: kase.turns[0] ?? '' });
  const step = solution.steps[cursor.step];
  try {
    const results = await resultsOf(world, cursor);
    if (!step) {
      const text = String(resolveArguments(solution.answer, results));
      const data = solution.data ? (resolveArguments(solution.data, results) as JsonObject) : null;
      await stage.say({ turn: cursor.turn, from: 'agent', text, data });
      return { kind: 'end', problem: null };
    }
    if ('say' in step) {
      await stage.say({ turn: cursor.turn, from: 'agent', text: String(resolveArguments(step.say, results)) });
      const next = kase.turns[cursor.turn];
      if (next !== undefined) await stage.say({ turn: cursor.turn + 1, from: 'user', text: next });
      return { kind: 'say', cursor: { ...cursor, step: cursor.step + 1, turn: cursor.turn + 1 } };
    }
    const id = `op-${cursor.calls + 1}`;
    const args = resolveArguments(step.with ?? {}, results);
    const proposal = checkCall(stage.environment.environment, kase.permission, { id, tool: step.call, args, idempotencyKey: step.key ?? null });
    await world.ledger.propose(proposal);
    const operations = step.as ? { ...cursor.operations, [step.as]: id } : cursor.operations;
    return {
      kind: 'call',
      call: callRefOf(proposal),
      cursor: { ...cursor, step: cursor.step + 1, operations, calls: cursor.calls + 1 },
    };
  } catch (error) {
    if (error instanceof ScriptError) return { kind: 'end', problem: { code: 'script', message: error.message } };
    throw error;
  }
}

async function resultsOf(world: World, cursor: ScriptCursor): Promise<StepResults> {
  const names = Object.entries(cursor.operations);
  const rows = await Promise.all(names.map(async ([name, id]) => [name, await world.ledger.read(id)] as const));
  return Object.fromEntries(rows.map(([name, row]) => [name, { state: row?.state ?? 'unknown', result: row?.result ?? null, problem: row?.problem ?? null }]));
}
