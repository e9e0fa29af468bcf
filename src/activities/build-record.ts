import type { OperationApproval } from '../domain/approval.ts';
import type { ServiceAccess } from '../domain/agent.ts';
import type { Operation } from '../domain/operation.ts';
import type { Effect } from '../domain/effect.ts';
import { type DrawnRule, type InjectedFault, NO_FAULTS, targetText } from '../domain/fault.ts';
import type { HandOver, Message, TrialRecord } from '../domain/record.ts';
import { isObject } from '../domain/text/bounded.ts';
import type { Environment } from '../environments/define.ts';
import { runtimeOf } from '../environments/runtime-tools.ts';
import { EVERY_DISPATCH, type LedgerRow, type World } from '../environments/world.ts';
import type { GradeRequest, HandedOver, OperationNote } from './contract.ts';

/** What a record is made of beside the world. */
export interface RecordParts {
  readonly request: GradeRequest;
  readonly messages: readonly Message[];
  readonly referenceEffects: readonly Effect[] | null;
  /** What approvers were asked, by operation. */
  readonly approvals?: ReadonlyMap<string, OperationApproval>;
  /** Services for which the agent has clients of its own. Default: none. */
  readonly access?: readonly ServiceAccess[];
  readonly schedule?: { readonly name: string; readonly rules: readonly DrawnRule[] };
}

/** Gathers what the graders read: the workflow's order, the ledger's arguments and results, and what the systems of record show after the fence. */
export async function buildRecord(
  world: World,
  environment: Environment,
  { request, messages, referenceEffects, approvals = new Map(), access = [], schedule = { name: NO_FAULTS.name, rules: [] } }: RecordParts,
): Promise<TrialRecord> {
  const operations: Operation[] = [];
  // Asked before the ledger is copied: it also fences what may still be on its way.
  const recovered = new Map<string, Operation['known']>();
  for (const note of request.operations) {
    if (stateOf(note) === 'unknown') recovered.set(note.id, await knownState(world, note.replayOf ?? note.id));
  }
  const rows = new Map((await world.ledger.all()).map((row) => [row.id, row]));
  const observed = await world.observe();
  const acted = new Set(observed.effects.filter(isOwn).map((effect) => effect.operation));
  for (const note of request.operations) {
    // A service may have answered that it failed and have done it nevertheless: what its record shows counts, not what it said.
    const state = stateOf(note);
    const known = state === 'committed' || (state === 'failed' && acted.has(note.id)) ? 'committed' : 'failed';
    operations.push(operationOf(note, rows, environment, recovered.get(note.id) ?? known, approvals.get(note.id)));
  }
  return {
    ending: request.ending,
    operations,
    effects: observed.effects,
    messages,
    lateAttempts: observed.lateAttempts,
    tables: observed.tables,
    referenceEffects,
    ...(access.length > 0 && { ownAccess: { services: access, ...(access.includes('sql') && { unexplained: await world.unexplained() }) } }),
    ...(request.handOvers && { handOvers: request.handOvers.map((handed) => handOverOf(handed, rows)) }),
    ...(observed.live && { live: observed.live }),
    ...(observed.replayed && { replayed: observed.replayed.route }),
    ...(request.beyondBudget !== undefined && { beyondBudget: request.beyondBudget }),
    problem: request.problem,
    faults: {
      schedule: schedule.name,
      rules: schedule.rules,
      injected: schedule.rules.length > 0 ? [...(await world.faults.injected()), ...refusedByDoor(request.operations, rows, schedule.rules)] : [],
      ...observed.replayed?.faults,
      runtime: runtimeOf(environment),
    },
  };
}

function handOverOf({ operation, to, turn }: HandedOver, rows: ReadonlyMap<string, LedgerRow>): HandOver {
  const row = rows.get(operation);
  const text = isObject(row?.args) ? row.args['text'] : undefined;
  return { operation, from: row?.actor ?? '', to, text: typeof text === 'string' ? text : '', turn };
}

/** How it stands: what became of a call that was told to wait counts. */
function stateOf({ told, ended }: OperationNote): OperationNote['told'] {
  return ended?.state ?? told;
}

/** What the door itself refused as the schedule says: it never reached the world. */
function refusedByDoor(notes: readonly OperationNote[], rows: ReadonlyMap<string, LedgerRow>, rules: readonly DrawnRule[]): InjectedFault[] {
  return notes.flatMap(({ id, tool, refusedBy }) => {
    const rule = rules.find(({ index }) => index === refusedBy?.rule);
    if (rule === undefined || refusedBy === undefined) return [];
    const { kind } = rule.fault;
    const detail = kind === 'permission_revoked' ? `${tool} was no longer permitted` : `${tool} had another contract, and the call was refused`;
    return [{ rule: rule.index, kind, on: targetText(rule.on), position: refusedBy.position, operation: id, detail, at: rows.get(id)?.at ?? '' }];
  });
}

/** An effect that an operation had by its own doing: no refused mail, and nobody else's change. */
function isOwn(effect: Effect): boolean {
  return effect.byFault === undefined && (effect.kind === 'row' || effect.accepted);
}

/** After the fence nothing can come any more, so what is not there has not happened. A real service may not be able to say. */
async function knownState(world: World, operation: string): Promise<Operation['known']> {
  const { row, effects, open } = await world.ledger.recover(operation, EVERY_DISPATCH);
  if (open) return 'undetermined';
  return row?.state === 'committed' || effects > 0 ? 'committed' : 'failed';
}

function operationOf(
  note: OperationNote,
  rows: ReadonlyMap<string, LedgerRow>,
  environment: Environment,
  known: Operation['known'],
  asked?: OperationApproval,
): Operation {
  const row = rows.get(note.id);
  const original = rows.get(note.replayOf ?? note.id);
  return {
    id: note.id,
    seq: note.seq,
    tool: note.tool,
    ...(row?.actor !== undefined && { actor: row.actor }),
    effect: environment.tools.find((tool) => tool.name === note.tool)?.effect ?? null,
    args: row?.args ?? null,
    idempotencyKey: row?.idempotencyKey ?? null,
    position: note.position,
    told: note.told,
    known,
    result: stateOf(note) === 'committed' ? (original?.result ?? null) : null,
    problem: note.problem,
    ...(row?.detail ? { detail: row.detail } : {}),
    durationMs: row?.durationMs ?? null,
    at: row?.at ?? '',
    replayOf: note.replayOf,
    ...(note.reconciled && { reconciled: note.reconciled }),
    // The workflow is the authority on what counted.
    ...(asked && { approval: { ...asked, end: note.approval ?? asked.end } }),
    ...(note.ended && { ended: note.ended }),
    ...(row && row.tries > 1 && { tries: row.tries }),
    disturbed: note.disturbed,
  };
}
