/**
 * Places where a test may kill this process, each named after the race that it exposes:
 *
 * - `entered_<phase>`: between two phases of a trial.
 * - `world_leased_before_recorded`: the world stands, the store does not know it yet; the next try must get the same world.
 * - `dispatched_before_write`: the server counts an attempt that did nothing.
 * - `tool_wrote_before_commit`: rows are written in a transaction that never commits.
 * - `committed_before_reply`: the effect stands and its reply is lost.
 * - `service_replied_before_ledger`: a service did it, the ledger does not say so.
 * - `model_replied_before_reported`: a model's reply stands in the store, and the workflow does not know it.
 * - `user_spoke_before_ledger`: the simulated user's answer is stored, the question's row and the workflow do not know it.
 * - `fenced_before_grade`, `recorded_before_verdict`, `released_before_finished`: each closing step done, its completion lost.
 *
 * @returns a function that counts the hits of a name, and kills the process with SIGKILL at the armed one.
 */
export function createFailpoints(armed: readonly { readonly name: string; readonly hit: number }[]): (name: string) => void {
  if (armed.length === 0) return () => {};
  const hits = new Map<string, number>();
  return (name) => {
    const count = (hits.get(name) ?? 0) + 1;
    hits.set(name, count);
    if (armed.some((point) => point.name === name && point.hit === count)) process.kill(process.pid, 'SIGKILL');
  };
}
