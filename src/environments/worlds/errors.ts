/** A pack's schema or seed cannot be made into a world. Trying again gives the same: the pack needs a correction. */
export class WorldBuildError extends Error {
  override readonly name = 'WorldBuildError';
  readonly code = 'world_build';

  constructor(problem: string, options?: ErrorOptions) {
    super(problem, options);
  }
}

/** A case's `state` does not fit the world: an unknown table or column, a row that is not there, a value that the column refuses. */
export class WorldStateError extends Error {
  override readonly name = 'WorldStateError';
  readonly code = 'world_state';
  /** Position in the case's list, from 0. */
  readonly index: number;

  constructor(index: number, problem: string, options?: ErrorOptions) {
    super(`state[${index}]: ${problem}`, options);
    this.index = index;
  }
}

/** Rows that the journal speaks of are not there, or are there and should not be: something wrote past the journal. */
export class JournalMismatchError extends Error {
  override readonly name = 'JournalMismatchError';
  readonly code = 'journal_mismatch';
  readonly table: string;

  constructor(table: string, problem: string) {
    super(`the journal of table ${table} ${problem}`);
    this.table = table;
  }
}

/** A world just made does not equal its generation, so it was thrown away. The seed is not the same each time, or the database changed it. */
export class FingerprintError extends Error {
  override readonly name = 'FingerprintError';
  readonly code = 'fingerprint';
  readonly generation: string;
  /** `catalogue`, or tables by name. */
  readonly differs: readonly string[];

  constructor(generation: string, differs: readonly string[]) {
    super(
      `a new world does not match its generation ${generation.slice(0, 12)} (${differs.join(', ')}) and was dropped; ` +
        'a seed must give the same rows each time (use world_now() and fixed values, not now() or random ones)',
    );
    this.generation = generation;
    this.differs = differs;
  }
}

/** The ledger of the world contradicts the call: no such operation, or one that has ended. */
export class LedgerError extends Error {
  override readonly name = 'LedgerError';
  readonly code = 'ledger';
  readonly operation: string;

  constructor(operation: string, problem: string) {
    super(`operation ${operation}: ${problem}`);
    this.operation = operation;
  }
}

/** A snapshot cannot be made into a world here. */
export class RestoreError extends Error {
  override readonly name = 'RestoreError';
  readonly code = 'restore';

  constructor(problem: string) {
    super(`cannot restore the snapshot: ${problem}`);
  }
}

/** There is no state of the world from which one could go on after so many operations. */
export class PointError extends Error {
  override readonly name = 'PointError';
  readonly code = 'no_point';
  readonly count: number;
  readonly why: string;
  /** Numbers of operations after which there is one; 0 is the moment before the first. */
  readonly points: readonly number[];

  constructor(count: number, why: string, points: readonly number[]) {
    super(`the world cannot be made as it was after operation ${count}: ${why}`);
    this.count = count;
    this.why = why;
    this.points = points;
  }
}

/** A tool's preview names what the world does not have, or more than an approver reads: the pack needs a correction. */
export class PreviewError extends Error {
  override readonly name = 'PreviewError';
  readonly code = 'preview';

  constructor(problem: string) {
    super(`the preview for an approval cannot be shown: ${problem}`);
  }
}

/** Writers held on to the tables of an approved call for longer than any write may take. The harness's trouble: nothing was written, and it can be tried again. */
export class PreviewBusyError extends Error {
  override readonly name = 'PreviewBusyError';
  /** As of a transaction that could not be put in a row with others. */
  readonly code = '40001';

  constructor(options?: ErrorOptions) {
    super('an approved call waited too long for writers of the rows that it is bound to; it had no effect', options);
  }
}

/** Writers held on to rows that a stale read had to take back, for longer than any write may take. The harness's trouble, not the agent's. */
export class StaleReadError extends Error {
  override readonly name = 'StaleReadError';
  readonly code = 'stale_read';

  constructor(options?: ErrorOptions) {
    super('a stale read waited too long for writers of its rows; the read had no effect and can be tried again', options);
  }
}

/** A fault was to be injected into a world that was leased without a schedule: such a world is never asked for faults. */
export class NoScheduleError extends Error {
  override readonly name = 'NoScheduleError';
  readonly code = 'no_schedule';

  constructor(world: string) {
    super(`world ${world} was leased without fault rules; name the drawn rules in the lease request`);
  }
}
