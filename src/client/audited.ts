import { hostname, userInfo } from 'node:os';
import type { Actor, AuditedAct } from '../store/audit.ts';
import type { Store } from '../store/store.ts';

/** Codes of errors that refuse a request: nothing was changed by it. */
const REFUSED = new Set([
  'decision_refused',
  'control_refused',
  'trial_runs',
  'not_found',
  'store_conflict',
  'snapshot',
  'no_key',
  'point_refused',
  'judge_refused',
  'suite_file',
]);

/** Does what somebody asks for, once the audit log says so, and then notes what became of it. @throws what `work` threw, and what the store threw before it */
export async function audited<T>(store: Pick<Store, 'audit' | 'endAudited'>, act: AuditedAct, work: () => Promise<T>): Promise<T> {
  const id = await store.audit(act);
  const end = (outcome: 'done' | 'refused' | 'failed', problem: string | null) =>
    // It has happened whatever can be written of it; the line then stays as it was asked.
    store.endAudited(id, { outcome, problem }).catch(() => undefined);
  try {
    const value = await work();
    await end('done', null);
    return value;
  } catch (error) {
    await end(refuses(error) ? 'refused' : 'failed', error instanceof Error ? error.message : String(error));
    throw error;
  }
}

/** The user of this process, as the audit log and the records of decisions name them. */
export function thisUser(): string {
  // A user without an entry in the system's list has no name.
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}@${hostname()}`;
  }
}

/** The user of this process, by this way. */
export function localActor(via: Actor['via']): Actor {
  return { by: thisUser(), via, roles: null };
}

/** By its code; or by saying so itself, in a member `refused`. */
function refuses(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('refused' in error && error.refused === true) || ('code' in error && typeof error.code === 'string' && REFUSED.has(error.code));
}
