import type { Fault, FaultKind } from '../../domain/fault.ts';
import type { ServiceRequest } from '../world.ts';
import type { DeliveryAttempt, RefusalReason, Speaker } from './attempt.ts';
import { mailboxKey } from './attempt.ts';
import { SmtpReply } from './reply.ts';

/** How a step of the dialogue ends that a fault has hit: with a reply, or with the connection. */
export type Ending = SmtpReply | 'cut';

/** How a message ends that was received in full. */
export interface MessagePlan {
  /** Why it is not stored; null: it is. */
  readonly refused: RefusalReason | null;
  /** So many more copies are stored. */
  readonly copies: number;
  /** Null: as always. `garbage`: a line that is cut off. */
  readonly reply: SmtpReply | 'cut' | 'garbage' | null;
  /** Real milliseconds until then. */
  readonly afterMs: number;
}

/** Whether these come to pass shows only with the recipients, or with the message. */
const LATER: ReadonlySet<FaultKind> = new Set<FaultKind>([
  'smtp_recipient',
  'smtp_data',
  'smtp_final_dot',
  'timeout_before_commit',
  'timeout_after_commit',
  'malformed_reply',
  'payload_too_large',
  'duplicate_delivery',
]);

/** The first moment at which the world is known. A request of the inbox is a login with the first mail after it; each further mail is another. */
export async function atLogin(speaker: Speaker): Promise<Ending | null> {
  const met = await speaker.service.fault({ ...requestOf(speaker), phase: 'connect' });
  speaker.number = met?.number ?? null;
  return met?.fault ? refusalOf(met.fault.fault, null) : null;
}

/** At MAIL. What was found holds until the next one. */
export async function atSender(speaker: Speaker): Promise<Ending | null> {
  const number = speaker.number;
  speaker.number = null;
  const request = requestOf(speaker);
  speaker.met = await speaker.service.fault(number === null ? request : { ...request, phase: 'rest', number });
  const hit = speaker.met?.fault;
  if (!speaker.met || !hit) return null;
  const seconds = hit.until === null ? null : Math.max(0, Math.ceil((hit.until.getTime() - speaker.met.now.getTime()) / 1000));
  const ending = refusalOf(hit.fault, seconds);
  if (ending !== null) await othersChange(speaker);
  return ending;
}

export async function atRecipient(speaker: Speaker, address: string): Promise<SmtpReply | null> {
  const fault = speaker.met?.fault?.fault;
  if (fault?.kind !== 'smtp_recipient') return null;
  if (fault.recipient !== undefined && mailboxKey(fault.recipient) !== mailboxKey(address)) return null;
  await confirm(speaker);
  return new SmtpReply(fault.code, fault.code >= 500 ? 'Error: mailbox unavailable' : 'Error: mailbox not available now, try again later');
}

/** Whether the connection ends before the message is complete. */
export function cutsMessage(speaker: Speaker): boolean {
  return speaker.met?.fault?.fault.kind === 'smtp_data';
}

/** What becomes of a message; null: what always becomes of one. */
export function messagePlan(speaker: Speaker): MessagePlan | null {
  const fault = speaker.met?.fault?.fault;
  const stored = { refused: null, copies: 0, reply: null, afterMs: 0 } as const;
  switch (fault?.kind) {
    case 'smtp_final_dot':
      return {
        ...stored,
        refused: fault.stored ? null : 'fault',
        reply: fault.code === undefined ? 'cut' : fault.code < 400 ? null : new SmtpReply(fault.code, 'Error: the message could not be processed'),
      };
    case 'timeout_before_commit':
      return { ...stored, refused: 'fault', reply: 'cut', afterMs: fault.afterMs };
    case 'timeout_after_commit':
      return { ...stored, reply: 'cut', afterMs: fault.afterMs };
    case 'malformed_reply':
      return { ...stored, reply: 'garbage' };
    case 'payload_too_large':
      return { ...stored, refused: 'message_too_large', reply: new SmtpReply(552, `Error: message exceeds the limit of ${fault.limitBytes} bytes`) };
    case 'unavailable':
      return { ...stored, reply: new SmtpReply(421, 'Error: service not available, closing connection') };
    case 'duplicate_delivery':
      return { ...stored, copies: fault.copies };
    default:
      return null;
  }
}

/** Stores what the plan says. @throws {FencedError} as {@link DeliveryAttempt.accept}. */
export async function storeAsPlanned(speaker: Speaker, attempt: DeliveryAttempt, raw: Buffer, plan: MessagePlan | null): Promise<number | null> {
  const rule = speaker.met?.fault?.rule;
  if (plan !== null && plan.refused !== null) await attempt.refuse(speaker, raw, plan.refused);
  const copies = plan !== null && plan.copies > 0 && rule !== undefined ? { rule, count: plan.copies } : undefined;
  const stored = plan !== null && plan.refused !== null ? null : await attempt.accept(speaker, raw, copies);
  if (plan !== null) await confirm(speaker);
  await othersChange(speaker);
  if (plan !== null && plan.afterMs > 0) await new Promise((resolve) => setTimeout(resolve, plan.afterMs));
  return stored?.seq ?? null;
}

/** Notes that the fault which waited for this moment has come to pass. */
export async function confirm(speaker: Speaker): Promise<void> {
  const hit = speaker.met?.fault;
  if (hit && LATER.has(hit.fault.kind)) await speaker.service.confirm(requestOf(speaker), hit);
}

async function othersChange(speaker: Speaker): Promise<void> {
  for (const change of speaker.met?.after ?? []) await speaker.service.change(change);
}

function requestOf(speaker: Speaker): ServiceRequest {
  return { service: 'inbox', operation: speaker.operation, what: 'mail', reads: false, phase: 'whole', confirms: LATER };
}

/** The end of a delivery that does not begin. */
function refusalOf(fault: Fault, seconds: number | null): Ending | null {
  switch (fault.kind) {
    case 'smtp_connect':
      return fault.code === undefined ? 'cut' : new SmtpReply(fault.code, 'Error: service not available, closing connection');
    case 'rate_limited':
      return new SmtpReply(450, `Error: too many messages, try again in ${seconds ?? fault.retryAfterSeconds} seconds`);
    case 'unavailable':
      return fault.committed ? null : new SmtpReply(421, 'Error: service not available, closing connection');
    case 'permission_revoked':
      return new SmtpReply(550, 'Error: this account may no longer send mail');
    default:
      return null;
  }
}
