import { proxySinks, type Sinks } from '@temporalio/workflow';
import type { CallOutcome, CallRef, OperationNote } from '../activities/contract.ts';
import type { ToldState } from '../domain/operation.ts';
import type { TrialPhase, TrialSummary } from '../domain/trial.ts';
import type { Ending, Judgement } from '../domain/verdict.ts';

/** Where a workflow tells of its trace. Called once for each part that has ended, never again in a replay. */
export interface TraceSinks extends Sinks {
  traces: { span(part: TracedPart): void };
}

/** The attempt that a trace is of. */
export interface TracedAttempt {
  readonly trial: string;
  readonly batch: string;
  readonly case: string;
  readonly agent: string;
  readonly attempt: number;
}

/** A part of an attempt that has ended, by the workflow's clock. Names and numbers of ours: nothing that an agent, a user or a tool said. */
export type TracedPart = TracedAttempt & { readonly startMs: number; readonly endMs: number } & (
    | { readonly kind: 'attempt'; readonly ending: Ending; readonly verdict: Judgement | null; readonly calls: number; readonly disturbed: boolean }
    | { readonly kind: 'phase'; readonly phase: TrialPhase }
    | {
        readonly kind: 'operation';
        readonly operation: string;
        readonly tool: string;
        readonly state: ToldState;
        readonly position: number | null;
        readonly disturbed: boolean;
      }
  );

/** What stands for the name of a tool that there is not: it was the agent's own text. */
export const UNKNOWN_TOOL = '(unknown)';

const { traces } = proxySinks<TraceSinks>();

/** The trace of one attempt: the attempt, its phases, its operations. Exists where the worker that began the attempt takes traces, which its plan says. */
export class AttemptTrace {
  private readonly of: TracedAttempt;
  private readonly startedAt: number;
  private phase: { readonly name: TrialPhase; readonly startMs: number } | null = null;
  /** Told to wait for an approval; their end comes later. */
  private readonly waiting = new Map<string, { readonly tool: string; readonly startMs: number }>();

  constructor({ trial, batch, case: kase, agent, attempt }: TracedAttempt, startedAt: number) {
    this.of = { trial, batch, case: kase, agent, attempt };
    this.startedAt = startedAt;
  }

  enter(name: TrialPhase): void {
    this.leave();
    this.phase = { name, startMs: Date.now() };
  }

  /** A call that the door has accepted. `known`: there is a tool of its name. */
  async call(call: CallRef, known: boolean, outcome: Promise<CallOutcome>, noteOf: (id: string) => OperationNote | undefined): Promise<void> {
    const startMs = Date.now();
    const tool = known ? call.tool : UNKNOWN_TOOL;
    const { state } = await outcome;
    if (state === 'awaiting_approval') this.waiting.set(call.id, { tool, startMs });
    else this.operation(call.id, { tool, startMs, state }, noteOf(call.id));
  }

  end(summary: TrialSummary, notes: readonly OperationNote[]): void {
    for (const [id, began] of this.waiting) {
      const note = notes.find((one) => one.id === id);
      this.operation(id, { ...began, state: note?.ended?.state ?? 'awaiting_approval' }, note);
    }
    this.leave();
    const { ending, pass, calls, disturbed } = summary;
    this.tell({ kind: 'attempt', startMs: this.startedAt, endMs: Date.now(), ending, verdict: pass, calls, disturbed });
  }

  private operation(
    id: string,
    { tool, startMs, state }: { readonly tool: string; readonly startMs: number; readonly state: ToldState },
    note?: OperationNote,
  ): void {
    this.tell({
      kind: 'operation',
      startMs,
      endMs: Date.now(),
      operation: id,
      tool,
      state,
      position: note?.position ?? null,
      disturbed: note?.disturbed ?? false,
    });
  }

  private leave(): void {
    if (this.phase) this.tell({ kind: 'phase', startMs: this.phase.startMs, endMs: Date.now(), phase: this.phase.name });
    this.phase = null;
  }

  private tell(part: DistributiveOmit<TracedPart, keyof TracedAttempt>): void {
    traces.span({ ...this.of, ...part });
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
