import { createHash } from 'node:crypto';
import { ToolFailure, type WorldMail } from '../../environments/define.ts';
import { compose, deliver, type Submission } from '../../environments/inbox/delivery.ts';
import type { LiveCall } from '../../environments/world.ts';
import type { RequestLog } from '../live-service.ts';
import { contained } from './addresses.ts';

/** The account of a trial that sends. */
export interface SendingAccount {
  readonly name: string;
  readonly domain: string;
  readonly at: Submission;
}

/**
 * A trial's account at a real mail server, as one attempt of an operation uses it. Headers and text are as written; the envelope is contained in the trial's domain. Each mail is noted
 * before it is sent, with a Message-ID that no other mail has, so that it can be looked for in the mailbox where its reply was lost.
 *
 * `send` throws what the fixture's client throws.
 */
export function createLiveMail({ name, domain, at }: SendingAccount, { operation, now, signal }: LiveCall, log: RequestLog): WorldMail {
  let sent = 0;
  return {
    async send(mail) {
      sent += 1;
      const messageId = `<${encodeURIComponent(operation.id)}.${sent}@${name}.trialbed.invalid>`;
      const message = await compose(mail, messageId, now);
      const recipients = message.recipients.map((address) => contained(address, domain));
      const number = await log.sent({ messageId, content: createHash('sha256').update(message.raw).digest('hex') });
      try {
        await deliver({ ...message, from: contained(message.from, domain), recipients }, at, { signal });
      } catch (error) {
        // Then no mail exists.
        if (error instanceof ToolFailure) await log.answered(number, { taken: false });
        throw error;
      }
      await log.answered(number, { taken: true });
      return { messageId };
    },
  };
}
