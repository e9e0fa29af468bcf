import type { Columns, StateChange } from './case.ts';
import type { Json, JsonObject } from './json.ts';
import type { ToolEffect } from './operation.ts';

/** Which calls need somebody's approval before they are sent: those that every named condition fits. Reads never do. */
export interface ApprovalRule {
  readonly tool?: string;
  readonly effect?: Exclude<ToolEffect, 'read'>;
  /** Compared with the arguments. */
  readonly where?: Columns;
  /** Milliseconds after which a request has expired: real time where people decide, the world's where the case has an approver. Default {@link DEFAULT_EXPIRY_MS}. */
  readonly expiresMs?: number;
}

export const DEFAULT_EXPIRY_MS = 24 * 3_600_000;

/** All requests of an attempt have expired so long after its agent began: its world is leased until then. */
export const MAX_EXPIRY_MS = 7 * 24 * 3_600_000;

/** Who decides in a trial of a fixture, so that no batch waits for a person. */
export interface CaseApprover {
  /** `change_world_then_approve`: somebody else makes `changes` while the request waits, and it is approved nevertheless. */
  readonly decides: 'approve' | 'deny' | 'expire' | 'change_world_then_approve';
  /** Time of the world's clock between request and decision, milliseconds. */
  readonly afterMs: number;
  readonly name: string;
  readonly reason?: string;
  readonly changes?: readonly StateChange[];
}

/** How long a client waits for the reply to a call that needs an approval before it is told `awaiting_approval`: of real time, or of the world's in front of a case's approver. */
export const APPROVER_PATIENCE_MS = 20_000;

/** World time between a request and its end, milliseconds: the decision of the case's approver, or before that its expiry. */
export function dueMs({ decides, afterMs }: Pick<CaseApprover, 'decides' | 'afterMs'>, { expiresMs }: Pick<ApprovalNeed, 'expiresMs'>): number {
  return decides === 'expire' ? expiresMs : Math.min(afterMs, expiresMs);
}

/** Without a word in the case: nobody is there to decide. */
export const NOBODY: CaseApprover = { decides: 'expire', afterMs: 0, name: 'nobody' };

/** Why a call needs an approval, and for how long it may be asked for. */
export interface ApprovalNeed {
  /** The rule in words, such as `issue_refund with amount more than 100`. */
  readonly rule: string;
  readonly expiresMs: number;
}

/** Rows that an approver is shown, and that an approval is bound to. */
export interface PreviewRows {
  readonly table: string;
  readonly where: JsonObject;
  readonly rows: readonly JsonObject[];
}

/** What an approver is asked: all of it is covered by the digest. */
export interface ApprovalSubject {
  readonly tool: string;
  readonly args: Json;
  readonly rows: readonly PreviewRows[];
  readonly rule: string;
  /** sha256 of tool, its schema, arguments and rows; hexadecimal. */
  readonly digest: string;
  /** Real time, ISO 8601. */
  readonly requestedAt: string;
  /** When it expires: real time where people decide, else of the world's clock. */
  readonly expiresAt: string;
  /** People decide, and not the case's approver. */
  readonly people: boolean;
}

/** `void`: approved, and the arguments, the tool or the rows were not any more what the approver had been shown. `cancelled`: the agent's work ended first. */
export type ApprovalOutcomeName = 'approved' | 'refused' | 'expired' | 'void' | 'cancelled';

/** How a request ended. */
export interface ApprovalEnd {
  readonly outcome: ApprovalOutcomeName;
  /** Who decided; null: nobody did. */
  readonly by: string | null;
  /** `case`: the case's approver. `update`: `trialbed approve` or a client of the API, who says who they are. `signal`: a plain signal, whose sender's identity is unverified. */
  readonly via: 'case' | 'update' | 'signal' | null;
  readonly reason: string | null;
  /** ISO 8601: real time where people decide, else of the world's clock. */
  readonly at: string;
}

/** An operation's approval, as the record has it. `end` is null where it still waited. */
export type OperationApproval = ApprovalSubject & { readonly end: ApprovalEnd | null };
