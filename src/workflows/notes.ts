import type { CallRef, OperationNote } from '../activities/contract.ts';
import type { ApprovalEnd } from '../domain/approval.ts';
import type { OperationProblem, ToldState } from '../domain/operation.ts';

/** What the agent was told of each call, and what became of those that were told to wait. */
export class Notes {
  private notes: OperationNote[] = [];

  get list(): readonly OperationNote[] {
    return this.notes;
  }

  add(
    { id, tool }: CallRef,
    seq: number,
    position: number | null,
    told: ToldState,
    problem: OperationProblem | null,
    disturbed: boolean,
    replayOf: string | null = null,
  ): void {
    this.notes.push({ id, seq, tool, position, told, problem, replayOf, disturbed });
  }

  /** A call that was not let through; `refusedBy`: a rule of the schedule said so. */
  refuse({ id, tool }: CallRef, seq: number, told: 'rejected' | 'denied', problem: OperationProblem, refusedBy: OperationNote['refusedBy']): void {
    this.notes.push({ id, seq, tool, position: null, told, problem, replayOf: null, disturbed: false, ...(refusedBy && { refusedBy }) });
  }

  /** As it was noted where the attempt goes on from. */
  restore(note: OperationNote): void {
    this.notes.push(note);
  }

  annotate(id: string, more: Partial<OperationNote>): void {
    const at = this.notes.findIndex((note) => note.id === id);
    const note = this.notes[at];
    if (note) this.notes[at] = { ...note, ...more };
  }

  /** In order of acceptance. */
  sort(): void {
    this.notes.sort((a, b) => a.seq - b.seq);
  }

  /** The operation that a look-up asks for, where it has ended; a replay by key stands for the call that it repeated. Null: under way, or unknown. */
  ended(id: string | undefined): string | null {
    const note = this.find(id);
    if (note?.told === 'awaiting_approval' && !note.ended) return null;
    return note ? (note.replayOf ?? note.id) : null;
  }

  /** How the request for an approval of a call ended; null: it waits, or there was none. */
  approvalOf(id: string): ApprovalEnd | null {
    return this.find(id)?.approval ?? null;
  }

  /** What became of a call; null: it is under way. */
  endOf(id: string): { readonly state: ToldState; readonly problem: OperationProblem | null } | null {
    const note = this.find(id);
    return note?.ended ?? (note && note.told !== 'awaiting_approval' ? { state: note.told, problem: note.problem } : null);
  }

  private find(id: string | undefined): OperationNote | undefined {
    return this.notes.find((note) => note.id === id);
  }
}
