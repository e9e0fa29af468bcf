import type { Labelling, Trialbed } from '../../client/api.ts';
import type { LabelTask } from '../../store/label-tasks.ts';
import type { TicketTables } from '../../report/tickets.ts';
import type { Effect } from '../../domain/effect.ts';
import type { LedgerRow } from '../../environments/world.ts';
import type { Actor } from '../../store/audit.ts';
import type { BatchRow, Store } from '../../store/store.ts';
import type { Why } from './pages/why.tsx';

/** What the console shows and does, by whoever serves it. */
export interface ConsoleBackend {
  /** What it reads by the client API. */
  readonly bed: Pick<Trialbed, 'batches' | 'outcomes' | 'running' | 'show' | 'approvals'>;
  /** What it reads of the store itself, and where it writes what was refused. */
  readonly store: Pick<
    Store,
    | 'batch'
    | 'trialPage'
    | 'census'
    | 'askedApproval'
    | 'audit'
    | 'audited'
    | 'record'
    | 'messages'
    | 'modelCalls'
    | 'consoleKey'
    | 'putConsoleKey'
    | 'endConsoleKey'
  >;
  readonly labels: ConsoleLabels;
  /** What somebody asks for: it stands in the audit log in their name. */
  acts(actor: Actor): ConsoleActs;
  /** How a trial's world stands now, while it has one; null: it cannot be looked at. Never rejects. */
  world(place: { readonly trial: string; readonly attempt: number }): Promise<LiveWorld | null>;
  /** Tables of the ticket service in the worlds of a batch; null: it has none, or its environment is not here. Never rejects. */
  ticketTables(batch: string): Promise<TicketTables | null>;
  /** Why a trial that has not ended stands where it stands; null: nobody can tell now. Never rejects. */
  why(trial: string): Promise<Why | null>;
  /** A batch as it is, and not only as it is stored: interrupted where nobody works on it. */
  asItIs(batch: BatchRow): Promise<BatchRow>;
  /** Address of a workflow in Temporal's own web interface; null: it is not known where that is. */
  temporalLink(workflow: string): string | null;
}

/** Requests that change something. */
export type ConsoleActs = Pick<Trialbed, 'decide' | 'pause' | 'resume' | 'setConcurrency' | 'cancel' | 'requeue'>;

/** Labelling in the console. */
export interface ConsoleLabels {
  /** The name that labels of a token's holder carry. */
  raterOf(holder: string): string;
  tasks(rater: string, limit: number): Promise<readonly LabelTask[]>;
  /** Null: there is no such batch, or its suite has no rubric of this name that can be used now. */
  open(request: { readonly batch: string; readonly rubric: string; readonly rater: string }): Promise<Labelling | null>;
}

/** A world whose trial has not ended. */
export interface LiveWorld {
  /** In the order in which they were proposed. */
  readonly operations: readonly LedgerRow[];
  readonly effects: readonly Effect[];
}
