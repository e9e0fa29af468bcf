/** How one gate went for one agent of a batch. */
export interface GateResult {
  /** As it was written. */
  readonly gate: string;
  readonly agent: string;
  /** `not_judged`: there is no such figure, which counts as not met. */
  readonly result: 'met' | 'not_met' | 'not_judged';
  /** What was compared with the gate's value; null: there is none. */
  readonly figure: number | null;
  /** 95%, of a share. */
  readonly interval?: { readonly low: number; readonly high: number };
  /** What it is a figure of: trials, or cases with enough repetitions. */
  readonly n: number;
  /** In words. */
  readonly reason: string;
}

/** A case of a batch with a quarantine, all agents and schedules together. */
export interface QuarantinedCase {
  readonly case: string;
  readonly reason: string;
  readonly owner: string;
  /** The last day on which it gates nothing, as `2027-01-31`. */
  readonly until: string;
  /** That day is past: no gate is met until somebody decides. */
  readonly over: boolean;
  readonly trials: number;
  readonly passed: number;
}
