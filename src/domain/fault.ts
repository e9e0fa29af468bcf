import type { Columns, StateChange } from './case.ts';

/** Services of a world that a schedule may target as a whole. `database`: reads of the world's tables by tools. */
export type FaultService = 'inbox' | 'tickets' | 'database';

/** What a rule hits. `start`: once, before the agent's first message. */
export type FaultTarget = { readonly tool: string } | { readonly service: FaultService } | 'start';

/** Which calls of a tool, or requests of a service, from 1; both ends belong to it, no `to` means to the end. */
export interface CallRange {
  readonly from: number;
  readonly to?: number;
}

/**
 * What goes wrong, with the parameters of its kind. Seconds are seconds of the world's clock: nobody sleeps for them. Milliseconds are real.
 *
 * `attempts`: how many of the production client's own tries of the call it hits; absent: all of them, or for a limit those that come before it has passed.
 */
export type Fault =
  /** Refused with no effect. The limit stands, for the tool or service, until the world's clock has passed it. */
  | { readonly kind: 'rate_limited'; readonly retryAfterSeconds: number; readonly retryAfterAs: 'seconds' | 'http_date'; readonly attempts?: number }
  /** Refused with no effect; with `committed` (services only) the request is carried out and answered so nevertheless. */
  | { readonly kind: 'unavailable'; readonly attempts?: number; readonly committed?: boolean; readonly retryAfterSeconds?: number }
  /** The request is lost on the way: the call times out for real after `afterMs`, and had no effect. */
  | { readonly kind: 'timeout_before_commit'; readonly afterMs: number }
  /** The call has its effect, and then outlives its time for real. */
  | { readonly kind: 'timeout_after_commit'; readonly afterMs: number }
  /** The reply comes later by so much of the world's time. Beyond the production client's patience it is a `timeout_after_commit`. */
  | { readonly kind: 'slow'; readonly bySeconds: number }
  /** Reads answer as of the trigger (or as of the trial's start): so many of them, or for so long of the world's time; neither: to the end. */
  | { readonly kind: 'stale_read'; readonly asOf: 'trigger' | 'start'; readonly reads?: number; readonly forSeconds?: number }
  /** Somebody else changes rows just before the call is carried out, or just after. */
  | { readonly kind: 'concurrent_change'; readonly when: 'before' | 'after'; readonly changes: readonly StateChange[] }
  /** Rows of one system are made to disagree with another's. */
  | { readonly kind: 'conflicting_records'; readonly changes: readonly StateChange[] }
  /** The request arrives more than once, and each arrival is carried out; for mail, the inbox stores so many copies more. */
  | { readonly kind: 'duplicate_delivery'; readonly copies: number }
  /** The door refuses the tool from then on. */
  | { readonly kind: 'permission_revoked' }
  /** From then on the tool's contract is another: arguments, or fields of the result, have other names, and some arguments are gone. */
  | {
      readonly kind: 'schema_changed';
      readonly rename: { readonly [argument: string]: string };
      readonly remove: readonly string[];
      readonly renameResult: { readonly [field: string]: string };
    }
  /** The call is carried out; its reply is cut off and cannot be read. */
  | { readonly kind: 'malformed_reply' }
  /** Refused, since request or reply exceed a limit. */
  | { readonly kind: 'payload_too_large'; readonly limitBytes: number }
  /** The mail connection ends before the mail begins, with this reply, or with none. */
  | { readonly kind: 'smtp_connect'; readonly code?: number }
  /** RCPT is answered so; `recipient` alone, or every one. */
  | { readonly kind: 'smtp_recipient'; readonly code: number; readonly recipient?: string }
  /** The connection ends in the middle of the message. */
  | { readonly kind: 'smtp_data' }
  /** After the final dot: `stored` says whether the mail is kept; the reply is lost, or is `code`. */
  | { readonly kind: 'smtp_final_dot'; readonly stored: boolean; readonly code?: number };

export type FaultKind = Fault['kind'];

/** Kinds that a service injects, so that any client of it meets them. On a tool they hit what that tool's call sends to the service. */
export const SERVICE_KINDS: ReadonlySet<FaultKind> = new Set(['smtp_connect', 'smtp_recipient', 'smtp_data', 'smtp_final_dot']);

/** What each service can inject. A rule of another kind does nothing to it. `database`: of its reads only the age can be wrong. */
export const KINDS_OF_SERVICE: { readonly [service in FaultService]: ReadonlySet<FaultKind> } = {
  inbox: new Set<FaultKind>([
    'rate_limited',
    'unavailable',
    'timeout_before_commit',
    'timeout_after_commit',
    'slow',
    'concurrent_change',
    'conflicting_records',
    'duplicate_delivery',
    'permission_revoked',
    'malformed_reply',
    'payload_too_large',
    'smtp_connect',
    'smtp_recipient',
    'smtp_data',
    'smtp_final_dot',
  ]),
  tickets: new Set<FaultKind>([
    'rate_limited',
    'unavailable',
    'timeout_before_commit',
    'timeout_after_commit',
    'slow',
    'stale_read',
    'concurrent_change',
    'conflicting_records',
    'duplicate_delivery',
    'permission_revoked',
    'schema_changed',
    'malformed_reply',
    'payload_too_large',
  ]),
  database: new Set<FaultKind>(['stale_read']),
};

/** Kinds that stay in force once they were triggered. */
export const LASTING_KINDS: ReadonlySet<FaultKind> = new Set(['permission_revoked', 'schema_changed']);

/** Stands for the contract that a tool itself declares, beside those that rules put in its place, which are named by their place in the schedule. */
export const OWN_CONTRACT = -1;

export interface FaultRule {
  readonly on: FaultTarget;
  /** Absent: every call. */
  readonly calls?: CallRange | readonly number[];
  /** Only calls whose arguments match; their order cannot change that. */
  readonly where?: Columns;
  /** Between 0 and 1, drawn for each call position; absent: certain. */
  readonly probability?: number;
  readonly fault: Fault;
}

/** Faults as data: a pure function of schedule, seed, tool and call position. */
export interface FaultSchedule {
  readonly name: string;
  readonly title: string;
  /** Globs over case ids; the schedule is combined with these cases only. */
  readonly cases: readonly string[];
  readonly rules: readonly FaultRule[];
}

/** Without faults. */
export const NO_FAULTS: FaultSchedule = { name: 'none', title: 'No faults', cases: ['*'], rules: [] };

/** A rule whose probability has been drawn: nothing in it is left to chance. */
export interface DrawnRule extends Omit<FaultRule, 'probability'> {
  /** Place in the schedule, from 0. */
  readonly index: number;
}

/** One fault as it was really injected. */
export interface InjectedFault {
  /** Place of its rule in the schedule, from 0. */
  readonly rule: number;
  readonly kind: FaultKind;
  /** Tool, or `service inbox`, or `start`. */
  readonly on: string;
  /** Call position of the tool, or request of the service; null at the start. */
  readonly position: number | null;
  /** Operation that it hit; null where none was under way, as with an agent's own client. */
  readonly operation: string | null;
  /** What happened, in one sentence. */
  readonly detail: string;
  /** World time, ISO 8601. */
  readonly at: string;
}

/** Whether a rule covers a call position, its arguments aside. */
export function covers(rule: Pick<FaultRule, 'calls'>, position: number): boolean {
  const { calls } = rule;
  if (calls === undefined) return true;
  if ('from' in calls) return position >= calls.from && (calls.to === undefined || position <= calls.to);
  return calls.includes(position);
}

/** The target in words, as the record has it. */
export function targetText(target: FaultTarget): string {
  if (target === 'start') return 'start';
  return 'tool' in target ? target.tool : `service ${target.service}`;
}
