/** What was asked of a judge cannot be: there is no such rubric, no route, or a limit that cannot be kept. Nothing was asked of any model. */
export class JudgeRefusedError extends Error {
  override readonly name = 'JudgeRefusedError';
  readonly code = 'judge_refused';
}

/** A judge's model cannot be asked as it is set up: its key, address or name is wrong. What was judged before is kept. */
export class JudgeSetupError extends Error {
  override readonly name = 'JudgeSetupError';
  readonly code = 'judge_setup';
}

/** A judge's model was limited, broken or silent for all tries. What was judged is kept, and the same request goes on with the rest. */
export class JudgeStoppedError extends Error {
  override readonly name = 'JudgeStoppedError';
  readonly code = 'judge_stopped';
  /** Judgements that this request has added. */
  readonly judged: number;

  constructor(message: string, judged: number) {
    super(message);
    this.judged = judged;
  }
}
