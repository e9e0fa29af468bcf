import type { MailEffect, MailRecipient } from '../../domain/effect.ts';
import type { RequestFaults, ServiceSession } from '../world.ts';
import type { OperationAttempt } from './account.ts';
import { decodeMail } from './decode.ts';

/** Why an attempt delivered nothing; recorded among its violations as `refused:<reason>`. */
export type RefusalReason =
  /** MAIL FROM was refused. */
  | 'sender'
  /** Every recipient was refused. */
  | 'recipients'
  /** The client gave up (RSET, QUIT, a new MAIL) before DATA. */
  | 'abandoned'
  /** The connection ended before the final dot. */
  | 'connection_lost'
  | 'message_too_large'
  | 'header_too_large'
  /** A fault of the schedule lost it after the final dot. */
  | 'fault';

/** The party behind one connection: a world's account, and its delivery attempt in progress. */
export interface Speaker {
  readonly service: ServiceSession;
  readonly operation: OperationAttempt | null;
  open: DeliveryAttempt | null;
  /** The request of the service that the login began, until its first MAIL. */
  number: number | null;
  /** What the fault schedule does to the mail that the last MAIL began. */
  met: RequestFaults | null;
}

/** What one MAIL command began, until the server knows how it ended. */
export class DeliveryAttempt {
  readonly from: string;
  readonly #senderCode: number;
  readonly #recipients = new Map<string, MailRecipient>();
  #commands = 0;

  constructor(from: string, senderCode: number) {
    this.from = from;
    this.#senderCode = senderCode;
  }

  /** How many RCPT commands there were. */
  get commands(): number {
    return this.#commands;
  }

  /** MAIL was accepted and nobody named: no attempt to deliver to anyone. */
  get empty(): boolean {
    return this.#commands === 0 && this.#senderCode < 400;
  }

  /** The same sender again, after DATA was refused for want of a recipient: the transaction goes on. */
  again(): DeliveryAttempt {
    return new DeliveryAttempt(this.from, this.#senderCode);
  }

  /** Notes the reply to a RCPT command. An address named twice is one recipient, with its last reply. */
  answered(address: string, code: number): void {
    this.#commands += 1;
    this.#recipients.set(mailboxKey(address), { address, code });
  }

  /** Why it ends without DATA. */
  refusal(): RefusalReason {
    if (this.#senderCode >= 400) return 'sender';
    return this.#commands > 0 && [...this.#recipients.values()].every(({ code }) => code >= 400) ? 'recipients' : 'abandoned';
  }

  /** Stores it as accepted, and copies that a fault rule makes of it. @throws {FencedError} when the world is fenced: nothing is stored. */
  async accept(speaker: Speaker, raw: Buffer, copies?: { readonly rule: number; readonly count: number }): Promise<{ readonly seq: number }> {
    return speaker.service.storeMail(await this.#record(speaker, raw, null), copies);
  }

  /** Stores it as refused. */
  async refuse(speaker: Speaker, raw: Buffer, reason: RefusalReason): Promise<void> {
    await speaker.service.storeMail(await this.#record(speaker, raw, reason));
  }

  async #record(speaker: Speaker, raw: Buffer, reason: RefusalReason | null): Promise<StoredMail> {
    const view = raw.length === 0 ? EMPTY_VIEW : await decodeMail(raw);
    return {
      ...view,
      accepted: reason === null,
      from: this.from,
      recipients: [...this.#recipients.values()],
      violations: reason === null ? view.violations : [...view.violations, `refused:${reason}`],
      operation: speaker.operation?.id ?? null,
      attempt: speaker.operation?.attempt ?? 0,
      raw,
    };
  }
}

/** Equal for equal mailboxes: the domain is case-insensitive, the local part is not. The address has passed the server's syntax check. */
export function mailboxKey(address: string): string {
  const at = address.lastIndexOf('@');
  return at < 0 ? address : address.slice(0, at) + address.slice(at).toLowerCase();
}

type StoredMail = Omit<MailEffect, 'kind' | 'seq' | 'at'> & { readonly raw: Buffer; readonly attempt: number };

const EMPTY_VIEW = { subject: '', text: '', headers: {}, messageId: null, attachments: [], violations: [] } as const;
