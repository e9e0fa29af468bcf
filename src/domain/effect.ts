import type { JsonObject } from './json.ts';

/** In place of a rule: somebody else changed the row while a request for an approval waited, as the case says. */
export const WHILE_WAITING = -1;

export type RowChange = 'insert' | 'update' | 'delete';

/** One change of one row, as the world's journal holds it. */
export interface RowEffect {
  readonly kind: 'row';
  /** Order in the journal. */
  readonly seq: number;
  readonly table: string;
  readonly change: RowChange;
  /** Primary key columns and their values. */
  readonly key: JsonObject;
  /** Whole row before; null for an insert. */
  readonly before: JsonObject | null;
  /** Whole row after; null for a delete. */
  readonly after: JsonObject | null;
  /** The operation that caused it; null when written by an agent's own access. */
  readonly operation: string | null;
  /** A fault of the schedule changed the row, by somebody else's hand: no effect of the agent. Its rule, from 0; or {@link WHILE_WAITING}. */
  readonly byFault?: number;
  /** It was not observed in this trial: it is that of the recorded call which answered one. */
  readonly replayed?: true;
  /** World clock, ISO 8601. */
  readonly at: string;
}

/** One recipient of a delivery attempt, and what the server answered. */
export interface MailRecipient {
  readonly address: string;
  /** SMTP reply code to RCPT: 250 accepted, 4xx and 5xx refused. */
  readonly code: number;
}

/** One mail that the inbox accepted (`accepted`), or one attempt that it refused. */
export interface MailEffect {
  readonly kind: 'mail';
  readonly seq: number;
  readonly accepted: boolean;
  /** Envelope sender. */
  readonly from: string;
  /** Envelope recipients: what decides who gets it, whatever the headers say. */
  readonly recipients: readonly MailRecipient[];
  readonly subject: string;
  /** Decoded text body, in Unicode NFC. */
  readonly text: string;
  readonly headers: { readonly [name: string]: string };
  readonly messageId: string | null;
  readonly attachments: readonly { readonly filename: string | null; readonly contentType: string; readonly bytes: number }[];
  /** For example `8bit_header`: the raw message broke a rule of encoding. */
  readonly violations: readonly string[];
  readonly operation: string | null;
  /** The inbox stored this copy because a fault delivered the mail twice: no second effect of the agent. Number of the rule, from 0. */
  readonly byFault?: number;
  /** As of rows. */
  readonly replayed?: true;
  readonly at: string;
}

/** One change in a system of record, with the operation that caused it where one did. */
export type Effect = RowEffect | MailEffect;

/** A write that came after the fence and was refused by the system of record. */
export interface LateAttempt {
  readonly source: 'sql' | 'smtp' | 'tickets' | 'door';
  readonly operation: string | null;
  readonly detail: string;
  readonly at: string;
}
