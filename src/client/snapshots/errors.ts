/** A snapshot, or a file of one, cannot be used as it was asked. Nothing was changed. */
export class SnapshotError extends Error {
  override readonly name = 'SnapshotError';
  readonly code = 'snapshot';
}
