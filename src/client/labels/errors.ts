/** A label, or what was to be labelled, cannot be taken; nothing was stored. */
export class LabelRefusedError extends Error {
  override readonly name = 'LabelRefusedError';
  readonly code = 'label_refused';
}
