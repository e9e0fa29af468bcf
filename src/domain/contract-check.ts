/** One time that the tools of an environment were held against something else that has the same tools. Shapes were compared, never values. */
export interface ContractCheck {
  readonly environment: string;
  readonly generation: string;
  /** The other environment; null: recordings. */
  readonly against: { readonly environment: string; readonly generation: string } | null;
  /** Services that were real on one side and a fixture on the other, by their names in reports, such as `tickets`. */
  readonly live: readonly string[];
  /** Tools of which at least one reply was compared. */
  readonly tools: number;
  readonly differences: number;
  /** Recordings and calls that could not be made again. */
  readonly notPlayed: number;
  /** ISO 8601. */
  readonly at: string;
}
