import { createHmac } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { nanoid } from 'nanoid';
import type { WorldMail } from '../../environments/define.ts';
import { compose, deliver, type Submission } from '../../environments/inbox/delivery.ts';
import { LiveUnreachableError, repeatable } from '../errors.ts';
import type { LiveRequest, LiveService, Observed, Space } from '../live-service.ts';
import type { Resolved } from '../parts.ts';
import { mailAccounts } from './accounts.ts';
import { readArrivals } from './arrivals.ts';
import { createLiveMail } from './client.ts';
import { greeting } from './greeting.ts';
import { type Mailbox, openMailbox } from './mailbox.ts';
import { mailPlace } from './place.ts';

export interface MailServerOptions {
  /** How long a mail may be on its way that the server has taken. Default 60,000 ms. */
  readonly arrivesMs?: number;
  /** How long a mail of which the server said nothing may still come, beside the time that a probe takes. Default 10,000 ms. */
  readonly quietMs?: number;
}

/**
 * A real mail server: any that takes mails by SMTP with a login and gives them out by IMAP, and whose accounts lie in a table of PostgreSQL (the secret is its URL). A world has a
 * domain of its own there with two accounts: one that sends, which is ended by the fence, and one that reads. See docs/how-to/live.md.
 */
export function mailServer({ address, secret }: Resolved, { arrivesMs = 60_000, quietMs = 10_000 }: MailServerOptions = {}): LiveService<WorldMail> {
  const place = mailPlace(address);
  const accounts = mailAccounts(secret);
  const domainOf = ({ name }: Pick<Space, 'name'>) => `${name}.${place.domain}`;
  const sender = (space: Pick<Space, 'name' | 'password'>): Submission => ({ ...place.submission, user: `send@${domainOf(space)}`, password: space.password });
  const reader = (space: Pick<Space, 'name'>): Submission => ({
    ...place.submission,
    user: `read@${domainOf(space)}`,
    password: createHmac('sha256', secret).update(`trialbed reader ${space.name}`).digest('base64url'),
  });
  const mailboxOf = (space: Pick<Space, 'name'>): Promise<Mailbox> => {
    const { user, password } = reader(space);
    return openMailbox(place.reading, { user, pass: password });
  };

  /** Sends a mail to the reader itself and waits for it: then the server delivers, and what it had taken before has had its turn. */
  const probe = async (space: Space, mailbox: Mailbox): Promise<void> => {
    const at = reader(space);
    const messageId = `<probe-${nanoid()}@${space.name}.trialbed.invalid>`;
    const mail = { from: at.user, to: [at.user], subject: 'Probe of the test bed', text: 'It shows that mails arrive.' };
    await deliver(await compose(mail, messageId, new Date()), at, { timeoutMs: arrivesMs }).catch((error: unknown) => {
      throw new LiveUnreachableError(`a probe to the mail server ${at.host}:${at.port}`, timedOut(error));
    });
    if (!(await mailbox.has(messageId, arrivesMs)))
      throw new LiveUnreachableError(
        `a probe to the mail server ${at.host}:${at.port}`,
        timedOut(new Error(`it was taken and has not arrived within ${arrivesMs / 1000} s`)),
      );
    await mailbox.clear(messageId);
  };

  /** Operations whose mails were taken and have not come. */
  const missing = async (mailbox: Mailbox, requests: readonly LiveRequest[]): Promise<ReadonlySet<string>> => {
    const end = Date.now() + arrivesMs;
    const absent = new Set<string>();
    for (const { operation, sent, answered } of requests)
      if (answered?.['taken'] === true && !(await mailbox.has(String(sent['messageId']), Math.max(0, end - Date.now())))) absent.add(operation);
    return absent;
  };

  return {
    provision: (space) =>
      repeatable(async () => {
        const domain = domainOf(space);
        const [send, read] = [sender(space), reader(space)];
        await accounts.put([send, read].map(({ user, password }) => ({ login: user, password, domain, until: space.until })));
        await using mailbox = await mailboxOf(space);
        return { server: mailbox.server };
      }),
    client: (space, call, log) => createLiveMail({ name: space.name, domain: domainOf(space), at: sender(space) }, call, log),
    async fence(space, { drainMs }) {
      await accounts.disable(sender(space).user);
      await pause(drainMs);
    },
    observe: (space, requests) =>
      repeatable(async (): Promise<Observed> => {
        await using mailbox = await mailboxOf(space);
        await probe(space, mailbox);
        const open = await missing(mailbox, requests);
        const quietUntil = Date.now() + quietMs;
        for (const { sent, answered } of requests) if (answered === null) await mailbox.has(String(sent['messageId']), Math.max(0, quietUntil - Date.now()));
        const operations = new Map(requests.map(({ sent, operation }) => [sent['messageId'], operation]));
        const arrivals = await readArrivals(await mailbox.messages(), { domain: domainOf(space), shiftMs: space.shiftMs });
        return {
          effects: arrivals.map((mail, index) => ({ ...mail, seq: index + 1, operation: operations.get(mail.messageId ?? '') ?? null })),
          open,
          tables: {},
          version: [await greeting(place.submission), mailbox.server].filter((part) => part !== null).join(' with '),
        };
      }),
    release: (name) =>
      repeatable(async () => {
        // An account that an earlier try has removed has no mails any more; a server that is away still has them.
        const mailbox = await mailboxOf({ name }).catch((error: unknown) => {
          if (isRefused(error)) return null;
          throw error;
        });
        if (mailbox) {
          await using opened = mailbox;
          await opened.clear();
        }
        await accounts.remove(domainOf({ name }));
      }),
  };
}

function isRefused(error: unknown): boolean {
  return error instanceof LiveUnreachableError && (error.cause as { readonly authenticationFailed?: unknown } | undefined)?.authenticationFailed === true;
}

/** What passes by itself, as errors of connections say it. */
function timedOut(cause: unknown): Error {
  return Object.assign(new Error('the mail server did not do it in time', { cause }), { code: 'ETIMEDOUT' });
}
