import type { WorldMail } from '../define.ts';
import type { WorldCredentials } from '../world.ts';
import { formatAccount, type OperationAttempt } from './account.ts';
import { compose, deliver, type DeliveryOptions } from './delivery.ts';

export interface WorldMailOptions extends DeliveryOptions {
  readonly address: { readonly host: string; readonly port: number };
  readonly credentials: WorldCredentials;
  readonly operation: OperationAttempt;
  /** The world's clock: becomes the header Date. */
  readonly now: Date;
}

/**
 * The world's SMTP account as one attempt of an operation uses it. One message, one connection, one try.
 *
 * Each entry of `to`, `cc`, `bcc` is exactly one mailbox, or the mail is refused here. All recipients or none: if the server refuses one, nothing is
 * delivered. `bcc` stands in the envelope alone. The Message-ID is made of the operation and of the ordinal of the mail within it, not of the attempt,
 * so that two deliveries of one mail can be told from two mails.
 *
 * @throws {ToolFailure} from `send`, when no mail can exist: `mail_refused` the server (or the address check) said no for good, `mail_unavailable` it could
 * not be reached, said not now (4xx), or the connection was lost before the final dot.
 * @throws {MailOutcomeUnknownError} from `send`, when the connection was lost after the final dot.
 */
export function createWorldMail(options: WorldMailOptions): WorldMail {
  let sent = 0;
  return {
    async send(mail) {
      sent += 1;
      const messageId = `<${encodeURIComponent(options.operation.id)}.${sent}@${options.credentials.user}.trialbed.invalid>`;
      const message = await compose(mail, messageId, options.now);
      const user = formatAccount(options.credentials.user, options.operation);
      await deliver(message, { ...options.address, tls: 'none', user, password: options.credentials.toolSecret }, options);
      return { messageId };
    },
  };
}
