/** A trial cannot be reset or forked there. Nothing was changed. */
export class PointRefusedError extends Error {
  override readonly name = 'PointRefusedError';
  readonly code = 'point_refused';
  readonly trial: string;

  constructor(trial: string, why: string, options?: ErrorOptions) {
    super(why, options);
    this.trial = trial;
  }
}
