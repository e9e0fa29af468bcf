import type { OperationApproval } from './approval.ts';
import type { Json } from './json.ts';

/**
 * What calling a tool does to the systems of record.
 * `read`: nothing. `write`: rows of the world, through SQL. `external`: through a service (mail, tickets), which has its own record.
 */
export type ToolEffect = 'read' | 'write' | 'external';

/** Where an operation stands. See the table of transitions in `docs/architecture.md`. */
export type OperationState = 'proposed' | 'awaiting_approval' | 'rejected' | 'denied' | 'dispatched' | 'committed' | 'failed' | 'unknown';

/** The states in which an agent can be told of an operation's end. */
export type ToldState = 'committed' | 'failed' | 'unknown' | 'rejected' | 'denied' | 'awaiting_approval';

/** The states in which a call that was let through or waited for an approval can end. */
export type EndState = Extract<ToldState, 'committed' | 'failed' | 'unknown' | 'denied'>;

/** What the systems of record know after the fence: did the operation have its effect? */
export type KnownState = 'committed' | 'failed' | 'undetermined';

/** Why an operation did not commit, in a form that code can act on. */
export interface OperationProblem {
  /** Stable, for example `unknown_tool`, `invalid_args`, `not_permitted`, `budget_exhausted`, `timeout`, or a failure that the tool declares. */
  readonly code: string;
  /** One plain sentence, as the agent is told it. */
  readonly message: string;
  /** Seconds after which the call may be tried again, where the tool said so. */
  readonly retryAfterSeconds?: number;
}

/**
 * One tool call from proposal to known outcome, as it stands in the ledger.
 * Arguments and results lie in the record (never in workflow history).
 */
export interface Operation {
  /** Unique in the trial's attempt. With the attempt's number, the id of the workflow Update that carried it. */
  readonly id: string;
  /** Order of acceptance by the workflow, from 1. */
  readonly seq: number;
  readonly tool: string;
  /** The member of a team that called; absent where the agent is no team. */
  readonly actor?: string;
  readonly effect: ToolEffect | null;
  /** Canonical arguments as validated; as received where validation refused them. */
  readonly args: Json;
  readonly idempotencyKey: string | null;
  /** Ordinal among this tool's calls that passed validation and permission, from 1; null where the call never got there. */
  readonly position: number | null;
  /** What the agent was told. */
  readonly told: ToldState;
  /** What the systems of record know after the fence. */
  readonly known: KnownState;
  readonly result: Json | null;
  readonly problem: OperationProblem | null;
  /** Why it failed, in the words of the database, server or code that refused, for operators; the agent never saw it. Absent where nothing more is known. */
  readonly detail?: string;
  /** Milliseconds of real time between dispatch and outcome. */
  readonly durationMs: number | null;
  /** Time on the world's clock, ISO 8601. */
  readonly at: string;
  /** The operation whose stored outcome answered this call, since both have the same idempotency key; absent where it was a call of its own. */
  readonly replayOf?: string | null;
  /** What a look-up told the agent later about this operation, and the operation that looked; absent: nothing did. */
  readonly reconciled?: { readonly state: 'committed' | 'failed' | 'denied'; readonly by: string } | null;
  /** Who was asked to approve it and what came of that; absent where it needed no approval. */
  readonly approval?: OperationApproval;
  /** What became of it after the agent had been told `awaiting_approval`. Absent where it was told the end itself. */
  readonly ended?: { readonly state: EndState; readonly problem: OperationProblem | null };
  /** Tries that the production client made of this one call; absent: one. */
  readonly tries?: number;
  /** The harness had to recover this operation from trouble of its own (a lost worker, an uninjected timeout). */
  readonly disturbed: boolean;
}

/** What the agent was told and what the systems of record know are different things. A call that was refused, or told to wait, and had no effect is none such. */
export function knownOtherwise({ told, known }: Pick<Operation, 'told' | 'known'>): boolean {
  const refused = told === 'rejected' || told === 'denied' || told === 'awaiting_approval';
  return told !== known && !(refused && known === 'failed');
}
