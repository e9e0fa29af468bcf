import { createTransport } from 'nodemailer';
import { request } from 'undici';
import { INVARIANTS } from '../../domain/night.ts';
import { printable } from '../../domain/text/bounded.ts';
import type { NightRow } from '../../store/nights.ts';
import type { NightPlan } from '../../workflows/night-messages.ts';
import { webhookUrl } from './request.ts';

/** Variable of workers: URL of the SMTP server by which nights send mails, such as `smtps://user:password@mail.example.com`. */
const SMTP_VARIABLE = 'TRIALBED_NIGHT_SMTP';
/** Variable of workers: whom these mails are from. Default: whom they go to. */
const FROM_VARIABLE = 'TRIALBED_NIGHT_FROM';

const PATIENCE_MS = 10_000;
const MAX_LINES = 30;

/** What there is to tell of a night. */
export interface News {
  readonly kind: 'failure' | 'drift' | 'missed';
  readonly subject: string;
  readonly lines: readonly string[];
}

/** Tells it, and gives to whom with what came of it. */
export type Teller = (plan: NightPlan, night: NightRow, news: News) => Promise<readonly { readonly to: string; readonly problem: string | null }[]>;

/** Null: the night held, and nothing is another than the night before. */
export function toTell({ id, schedule, state, why, body }: NightRow): News | null {
  const { changes = [], findings = [], cleaned } = body;
  const changed = changes.map(({ what, before, now }) => `changed: ${what}: ${before ?? 'not there'} -> ${now ?? 'not there'}`);
  const lines = [
    ...(why === null ? [] : [why]),
    ...findings.map(({ invariant, detail }) => `did not hold: ${INVARIANTS[invariant]}: ${detail}`),
    ...changed,
    ...(cleaned?.nights ?? []).map((night) => `night ${night} was lost; what it left is removed`),
    ...(body.report === undefined ? [] : [`report: ${body.report}`]),
  ].map((line) => printable(line));
  const shown = lines.length > MAX_LINES ? [...lines.slice(0, MAX_LINES), `and ${lines.length - MAX_LINES} more`] : lines;
  if (state === 'missed') return { kind: 'missed', subject: `${schedule}: a night did not run`, lines: shown };
  if (state === 'broken' || state === 'lost') return { kind: 'failure', subject: `${schedule}: night ${id} failed`, lines: shown };
  if (cleaned && cleaned.nights.length > 0) return { kind: 'failure', subject: `${schedule}: a night was lost before ${id}`, lines: shown };
  if (changed.length > 0) return { kind: 'drift', subject: `${schedule}: something is another version in ${id}`, lines: shown };
  return null;
}

/** Tells by HTTP and by mail, as the plan asks. What cannot be told is no failure of the night: it stands beside it. */
export function createTeller(variables: (names: readonly string[]) => { readonly [name: string]: string }): Teller {
  const post = async (webhook: NonNullable<NightPlan['webhook']>, night: NightRow, { kind, subject, lines }: News): Promise<void> => {
    const named = 'variable' in webhook ? variables([webhook.variable])[webhook.variable] : webhook.url;
    if (named === undefined || named === '') throw new Error(`the variable ${'variable' in webhook ? webhook.variable : ''} is not set where the worker runs`);
    const url = webhookUrl(named, 'variable' in webhook ? webhook.variable : 'the webhook');
    const { id, schedule, due, state, batch } = night;
    // `text` is what chats show of it.
    const told = { type: 'night', kind, schedule, night: id, due: due.toISOString(), state, batch, text: [subject, ...lines].join('\n'), subject, lines };
    const { statusCode, body } = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(told),
      headersTimeout: PATIENCE_MS,
      bodyTimeout: PATIENCE_MS,
    });
    await body.dump();
    if (statusCode >= 300) throw new Error(`it answered ${statusCode}`);
  };
  const send = async (address: string, { subject, lines }: News): Promise<void> => {
    const set = variables([SMTP_VARIABLE, FROM_VARIABLE]);
    const server = set[SMTP_VARIABLE];
    if (server === undefined || server === '') throw new Error(`the variable ${SMTP_VARIABLE} is not set where the worker runs`);
    const transport = createTransport({ url: server, connectionTimeout: PATIENCE_MS, greetingTimeout: PATIENCE_MS, socketTimeout: PATIENCE_MS });
    try {
      await transport.sendMail({
        from: set[FROM_VARIABLE] || address,
        to: address,
        subject: `trialbed: ${subject}`,
        text: `${[subject, '', ...lines].join('\n')}\n`,
      });
    } finally {
      transport.close();
    }
  };
  return async ({ webhook, mail }, night, news) => {
    const told: { to: string; problem: string | null }[] = [];
    const attempt = async (to: string, work: () => Promise<void>) => {
      const problem = await tried(work);
      told.push({ to, problem });
    };
    if (webhook)
      await attempt('variable' in webhook ? `webhook $${webhook.variable}` : `webhook ${new URL(webhook.url).host}`, () => post(webhook, night, news));
    if (mail !== undefined) await attempt(`mail ${mail}`, () => send(mail, news));
    return told;
  };
}

/** Three times, since a night is told once. Null: it went through. */
async function tried(work: () => Promise<void>): Promise<string | null> {
  let problem = '';
  for (let tries = 0; tries < 3; tries++) {
    try {
      await work();
      return null;
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
    }
  }
  // The address of a webhook may be a secret, and errors of connections name it.
  return printable(problem.replaceAll(/\b[a-z]+:\/\/\S+/gi, 'an address'), 300);
}
