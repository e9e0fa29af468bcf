import { workflowInfo } from '@temporalio/workflow';
import { canonicalText } from '../../domain/text/canonical.ts';
import type { Json } from '../../domain/json.ts';
import type { OperationProblem } from '../../domain/operation.ts';
import type { OperationOutcome } from './operation.ts';
import { sha256 } from './sha256.ts';

/**
 * The key of one operation of this workflow: 64 hexadecimal digits from the workflow's id, the operation's id and what is asked for. The same in every
 * attempt, after a retry, a reset and a continue-as-new of the workflow; another one for another content, so that a key never stands for two.
 *
 * `content` must hold nothing that differs between attempts: no time, no attempt number, no random id.
 */
export function idempotencyKey(operation: string, content: Json): string {
  return sha256(canonicalText([workflowInfo().workflowId, operation, content]));
}

/** SHA-256 of a value: equal for values that JSON does not tell apart. For approvals of an exact content. */
export function contentDigest(content: Json): string {
  return sha256(canonicalText(content));
}

/** How a call with a key is answered before anything is dispatched. */
export type KeyAnswer<T> =
  /** The key is new: dispatch, then {@link IdempotencyKeys.settle}. */
  | { readonly kind: 'new' }
  /** Committed or unknown before: the same outcome and the same operation, and nothing is dispatched. */
  | { readonly kind: 'replay'; readonly operation: string; readonly outcome: OperationOutcome<T> }
  /** `status` as HTTP has it: 409 while the first call waits or runs, 422 where the key was used for another content. */
  | { readonly kind: 'refused'; readonly status: 409 | 422; readonly problem: OperationProblem };

/**
 * What keys stand for in a workflow that takes calls with keys from others. The rules follow the IETF draft for the Idempotency-Key header:
 * `committed` gives the stored result; awaiting approval or dispatched is a conflict; `unknown` gives the same `unknown` until it is reconciled;
 * `rejected`, `denied` and `failed` release the key; another content under the key is refused.
 */
export class IdempotencyKeys<T> {
  private readonly entries = new Map<string, { readonly operation: string; readonly digest: string; outcome: OperationOutcome<T> | null }>();

  /** Takes the key for an operation, or says why not. `digest` covers tool and arguments. */
  begin(key: string, operation: string, digest: string): KeyAnswer<T> {
    const entry = this.entries.get(key);
    if (!entry) {
      this.entries.set(key, { operation, digest, outcome: null });
      return { kind: 'new' };
    }
    if (entry.digest !== digest) {
      return refused(422, 'idempotency_key_reused', 'This idempotency key was used for a call with another tool or other arguments.');
    }
    if (!entry.outcome) return refused(409, 'idempotency_conflict', 'A call with this idempotency key is still in flight; ask again later.');
    return { kind: 'replay', operation: entry.operation, outcome: entry.outcome };
  }

  /** How the operation that took the key ended, or what reconciling it found. An operation that does not hold the key changes nothing. */
  settle(key: string, operation: string, outcome: OperationOutcome<T> | { readonly state: 'denied' | 'rejected' }): void {
    const entry = this.entries.get(key);
    if (entry?.operation !== operation || entry.outcome?.state === 'committed') return;
    if (outcome.state === 'committed' || outcome.state === 'unknown') entry.outcome = outcome;
    else this.entries.delete(key);
  }
}

function refused(
  status: 409 | 422,
  code: string,
  message: string,
): { readonly kind: 'refused'; readonly status: 409 | 422; readonly problem: OperationProblem } {
  return { kind: 'refused', status, problem: { code, message } };
}
