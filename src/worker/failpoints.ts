import { writeSync } from 'node:fs';

/** Places where a test may kill this process, each named after the race that it exposes, with what that race is. */
export const FAILPOINTS = {
  entered_provision: 'between two phases of a trial: no world stands yet',
  entered_drive: 'between two phases of a trial: the world stands, the agent has done nothing',
  entered_fence: 'between two phases of a trial: the agent is done, the door still open in the world',
  entered_grade: 'between two phases of a trial: the world is closed, nothing is graded',
  entered_release: 'between two phases of a trial: the verdict stands, the world is still leased',
  world_made_before_leased: 'a world was made and nobody has its lease',
  database_made_before_leased: 'a database was cloned and nobody has its lease',
  container_started_before_registered: 'a container runs that no registry knows',
  world_leased_before_reply: 'the lease stands, who asked for it does not know',
  world_leased_before_recorded: 'the world stands, the store does not know it yet; the next try must get the same world',
  dispatched_before_write: 'the server counts an attempt that did nothing',
  effects_written_before_commit: 'rows are written in a transaction that never commits',
  tool_wrote_before_commit: 'the tool has returned, and its transaction never commits',
  effects_committed_before_reply: 'the transaction stands, the tool is never told',
  committed_before_reply: 'the effect stands and its reply is lost',
  mail_stored_before_reply: 'the mail stands, the client never hears of it',
  service_replied_before_ledger: 'a service did it, the ledger does not say so',
  server_serves_before_call: 'a tool server was told which operation it serves, and is not asked',
  server_answered_before_ledger: 'a tool server did it, the ledger does not say so',
  approval_requested_before_told: 'an approval is asked for, the workflow does not know it',
  approval_settled_before_dispatch: 'an approval is decided, its call is not sent',
  model_replied_before_reported: "a model's reply stands in the store, and the workflow does not know it",
  user_spoke_before_ledger: "the simulated user's answer is stored, the question's row and the workflow do not know it",
  fence_locked_before_epoch: 'the fence holds its lock and the epoch is the old one',
  fence_closed_before_sessions_ended: 'the epoch is raised, sessions of the old one go on',
  fenced_before_grade: 'the fence is done, its completion lost',
  recorded_before_verdict: 'the record stands without a verdict',
  world_reset_before_free: 'the world is as its seed again, and still leased',
  world_dropped_before_forgotten: 'the world is gone, the registry still has it',
  finished_before_reported: 'the trial has its result, its batch does not know',
  trials_started_before_noted: 'a batch has started trials and lost the list',
  released_before_finished: 'the release is done, its completion lost',
} as const;

/** @returns a function that counts the hits of a name, and kills the process with SIGKILL at the armed one, after a line on standard error that says which. */
export function createFailpoints(armed: readonly { readonly name: string; readonly hit: number }[]): (name: string) => void {
  if (armed.length === 0) return () => {};
  const hits = new Map<string, number>();
  return (name) => {
    const count = (hits.get(name) ?? 0) + 1;
    hits.set(name, count);
    if (!armed.some((point) => point.name === name && point.hit === count)) return;
    // Of a process that ends so, nothing else can tell where.
    writeSync(2, `failpoint ${name}: killed at hit ${count}\n`);
    process.kill(process.pid, 'SIGKILL');
  };
}
