/** The request would change nothing: the batch or trial has ended, or is so already. */
export class ControlRefusedError extends Error {
  override readonly name = 'ControlRefusedError';
  readonly code = 'control_refused';
}

/** Nobody answered: no worker runs the batch now. Whether the request counts is not known. */
export class ControlUnansweredError extends Error {
  override readonly name = 'ControlUnansweredError';
  readonly code = 'control_unanswered';
}
