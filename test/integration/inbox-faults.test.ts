import { createTransport } from 'nodemailer';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { DrawnRule, Fault } from '../../src/domain/fault.ts';
import { type OutgoingMail, ToolFailure } from '../../src/environments/define.ts';
import { createWorldMail } from '../../src/environments/inbox/client.ts';
import { type Inbox, startInbox } from '../../src/environments/inbox/inbox.ts';
import { Dialogue } from './inbox-dialogue.ts';
import { openServiceWorlds, type ServiceWorld, type ServiceWorlds } from './inbox-worlds.ts';

let worlds: ServiceWorlds;
let inbox: Inbox & AsyncDisposable;

beforeAll(async () => {
  worlds = await openServiceWorlds(inject('services').postgresUrl);
  inbox = await startInbox({ directory: worlds.directory, listen: '127.0.0.1', log: pino({ level: 'silent' }) });
});
afterAll(async () => {
  await inbox[Symbol.asyncDispose]();
  await worlds[Symbol.asyncDispose]();
});

const on = { service: 'inbox' } as const;
const rule = (fault: Fault, calls?: DrawnRule['calls'], index = 0): DrawnRule => ({ index, on, fault, ...(calls === undefined ? {} : { calls }) });
const world = (...rules: DrawnRule[]): Promise<ServiceWorld> => worlds.make({}, rules);
const MAIL: OutgoingMail = { from: 'desk@desk.example', to: ['anna@example.org'], subject: 'Your refund', text: 'Hello' };
const accepted = async (w: ServiceWorld) => (await w.mails()).filter((mail) => mail.accepted);
const refused = async (w: ServiceWorld) => (await w.mails()).filter((mail) => !mail.accepted).map((mail) => mail.violations.at(-1));

async function tool(w: ServiceWorld, id = 'op-1', attempt = 1) {
  await w.world.ledger.propose({ id, tool: 'send', args: {}, idempotencyKey: null, refusal: null });
  return createWorldMail({ address: inbox, credentials: w.credentials, operation: { id, attempt }, now: new Date('2026-03-02T08:30:00Z') });
}

async function ending(send: Promise<unknown>): Promise<string> {
  try {
    await send;
    return 'sent';
  } catch (error) {
    return error instanceof ToolFailure ? error.code : `unknown: ${(error as { code?: string }).code}`;
  }
}

/** A client of the agent's own: the reply code, 0 when the connection ended without one. */
async function own(w: ServiceWorld, mail: OutgoingMail = MAIL): Promise<number> {
  const transport = createTransport({
    host: inbox.host,
    port: inbox.port,
    ignoreTLS: true,
    auth: { user: w.credentials.user, pass: w.credentials.agentSecret },
  });
  try {
    await transport.sendMail({ from: mail.from, to: [...mail.to], subject: mail.subject, text: mail.text });
    return 250;
  } catch (error) {
    return (error as { responseCode?: number }).responseCode ?? 0;
  } finally {
    transport.close();
  }
}

type Right = { tool: string; own: number; stored: number; refused?: string };
const LOST = 'unknown: mail_outcome_unknown';

/** By phase: what a tool's mail meets, what a client of the agent's own meets with the next, and what is stored of each. */
const PHASES: readonly (readonly [string, Fault, Right])[] = [
  ['connect, no reply', { kind: 'smtp_connect' }, { tool: 'mail_unavailable', own: 0, stored: 0 }],
  ['connect, 421', { kind: 'smtp_connect', code: 421 }, { tool: 'mail_unavailable', own: 421, stored: 0 }],
  ['connect, 554', { kind: 'smtp_connect', code: 554 }, { tool: 'mail_refused', own: 554, stored: 0 }],
  ['recipient, for now', { kind: 'smtp_recipient', code: 450 }, { tool: 'mail_unavailable', own: 450, stored: 0, refused: 'refused:recipients' }],
  ['recipient, for good', { kind: 'smtp_recipient', code: 550 }, { tool: 'mail_refused', own: 550, stored: 0, refused: 'refused:recipients' }],
  ['in the middle of DATA', { kind: 'smtp_data' }, { tool: 'mail_unavailable', own: 0, stored: 0, refused: 'refused:connection_lost' }],
  ['after the dot, stored, reply lost', { kind: 'smtp_final_dot', stored: true }, { tool: LOST, own: 0, stored: 1 }],
  ['after the dot, not stored, reply lost', { kind: 'smtp_final_dot', stored: false }, { tool: LOST, own: 0, stored: 0, refused: 'refused:fault' }],
  ['after the dot, stored and 451', { kind: 'smtp_final_dot', stored: true, code: 451 }, { tool: 'mail_unavailable', own: 451, stored: 1 }],
  ['after the dot, 554', { kind: 'smtp_final_dot', stored: false, code: 554 }, { tool: 'mail_refused', own: 554, stored: 0, refused: 'refused:fault' }],
  ['after the dot, lost and 250', { kind: 'smtp_final_dot', stored: false, code: 250 }, { tool: 'sent', own: 250, stored: 0, refused: 'refused:fault' }],
  [
    'a limit',
    { kind: 'rate_limited', retryAfterSeconds: 60, retryAfterAs: 'seconds' },
    { tool: 'mail_unavailable', own: 450, stored: 0, refused: 'refused:sender' },
  ],
  ['no service', { kind: 'unavailable' }, { tool: 'mail_unavailable', own: 421, stored: 0, refused: 'refused:sender' }],
  ['no service, and stored', { kind: 'unavailable', committed: true }, { tool: 'mail_unavailable', own: 421, stored: 1 }],
  ['a time-out before', { kind: 'timeout_before_commit', afterMs: 5 }, { tool: LOST, own: 0, stored: 0, refused: 'refused:fault' }],
  ['a time-out after', { kind: 'timeout_after_commit', afterMs: 5 }, { tool: LOST, own: 0, stored: 1 }],
  ['a slow reply', { kind: 'slow', bySeconds: 20 }, { tool: 'sent', own: 250, stored: 1 }],
  ['a reply slower than anybody waits', { kind: 'slow', bySeconds: 3600 }, { tool: LOST, own: 0, stored: 1 }],
  ['a reply that is cut off', { kind: 'malformed_reply' }, { tool: LOST, own: 0, stored: 1 }],
  ['a limit of size', { kind: 'payload_too_large', limitBytes: 10 }, { tool: 'mail_refused', own: 552, stored: 0, refused: 'refused:message_too_large' }],
  ['no permission', { kind: 'permission_revoked' }, { tool: 'mail_refused', own: 550, stored: 0, refused: 'refused:sender' }],
];

describe('a mail', () => {
  test.each(PHASES)('that meets %s', async (_, fault, right) => {
    const w = await world(rule(fault));
    expect(await ending((await tool(w)).send(MAIL))).toBe(right.tool);
    await expect.poll(() => refused(w)).toEqual(right.refused ? [right.refused] : []);
    expect((await accepted(w)).map((mail) => mail.operation)).toEqual(Array(right.stored).fill('op-1'));
    expect(await own(w)).toBe(right.own);
    await expect.poll(() => refused(w)).toEqual(right.refused ? [right.refused, right.refused] : []);
    expect(await accepted(w)).toHaveLength(2 * right.stored);
    await expect
      .poll(() => w.world.faults.injected())
      .toMatchObject([
        { rule: 0, kind: fault.kind, on: 'service inbox', position: 1, operation: 'op-1' },
        { rule: 0, kind: fault.kind, on: 'service inbox', position: 2, operation: null },
      ]);
    expect(await w.world.faults.hit('op-1')).toBe(true);
    expect(await w.late()).toEqual([]);
  });

  test('of any size that is cut in the middle of DATA has certainly not been sent', async () => {
    const w = await world(rule({ kind: 'smtp_data' }));
    for (const [n, length] of [0, 1, 3_000, 200_000].entries()) {
      const mail = { ...MAIL, text: 'word and another\n'.repeat(length / 16) };
      expect(await ending((await tool(w, `op-${n}`)).send(mail)), `${length} bytes`).toBe('mail_unavailable');
    }
    expect(await accepted(w)).toEqual([]);
  });

  test('to several, of whom one is refused, is not sent to the others by a tool; a client of its own may', async () => {
    const w = await world(rule({ kind: 'smtp_recipient', code: 451, recipient: 'bert@EXAMPLE.org' }));
    const both = { ...MAIL, to: ['anna@example.org', 'bert@example.org'] };
    expect(await ending((await tool(w)).send(both))).toBe('mail_unavailable');
    expect(await accepted(w)).toEqual([]);
    expect(await own(w, both)).toBe(250);
    expect((await accepted(w))[0]?.recipients).toEqual([
      { address: 'anna@example.org', code: 250 },
      { address: 'bert@example.org', code: 451 },
    ]);
    expect(await own(w)).toBe(250);
    // The third had no such recipient: nothing was injected.
    expect((await w.world.faults.injected()).map(({ position }) => position)).toEqual([1, 2]);
  });

  test('is delivered more than once: the copies are known as such', async () => {
    const w = await world(rule({ kind: 'duplicate_delivery', copies: 2 }, [1], 4));
    expect(await ending((await tool(w)).send(MAIL))).toBe('sent');
    const mails = await w.mails();
    expect(mails.map(({ operation, byFault, accepted: kept }) => [operation, byFault, kept])).toEqual([
      ['op-1', undefined, true],
      ['op-1', 4, true],
      ['op-1', 4, true],
    ]);
    expect(new Set(mails.map(({ messageId, text }) => `${messageId} ${text}`)).size).toBe(1);
    expect(new Set((await w.raws()).map((raw) => raw.toString('base64'))).size).toBe(1);
    expect(await own(w)).toBe(250);
    expect(await w.mails()).toHaveLength(4);
  });

  test('waits out a limit on the clock of the world', async () => {
    const w = await world(rule({ kind: 'rate_limited', retryAfterSeconds: 60, retryAfterAs: 'seconds' }, [1]));
    expect(await own(w)).toBe(450);
    await w.world.faults.advance('a', { seconds: 59 });
    expect(await own(w)).toBe(450);
    await w.world.faults.advance('b', { seconds: 1 });
    expect(await own(w)).toBe(250);
    expect((await w.world.faults.injected()).map(({ position }) => position)).toEqual([1, 2]);
  });

  test('slow, moves the clock: what comes later has its time', async () => {
    const w = await world(rule({ kind: 'slow', bySeconds: 20 }, [1]));
    await own(w);
    await own(w);
    expect((await w.mails()).map(({ at }) => at)).toEqual(['2026-03-02T08:30:20.000Z', '2026-03-02T08:30:20.000Z']);
  });
});

describe('a request of the inbox', () => {
  test('is a login with its first mail, and each further mail', async () => {
    const w = await world(rule({ kind: 'permission_revoked' }, [99]), rule({ kind: 'smtp_final_dot', stored: false, code: 451 }, [2, 4], 1));
    await using dialogue = await Dialogue.login(inbox, w.credentials.user, w.credentials.agentSecret);
    const codes: number[] = [];
    for (let n = 0; n < 3; n += 1) codes.push((await dialogue.mail('a@example.org', ['b@example.org'], `Subject: ${n}\r\n\r\nx`)).code);
    expect(codes).toEqual([250, 451, 250]);
    expect(await own(w)).toBe(451);
    expect(await own(w)).toBe(250);
  });

  test('at the same time as others has a number of its own', async () => {
    const w = await world(rule({ kind: 'smtp_recipient', code: 450 }, { from: 2, to: 4 }));
    const codes = await Promise.all(Array.from({ length: 7 }, () => own(w)));
    expect(codes.sort()).toEqual([250, 250, 250, 250, 450, 450, 450]);
    expect((await w.world.faults.injected()).map(({ position }) => position).sort()).toEqual([2, 3, 4]);
  });

  test('meets what was armed for its operation, and no other does', async () => {
    const armed: DrawnRule = { index: 0, on: { tool: 'send_mail' }, fault: { kind: 'smtp_final_dot', stored: true } };
    const w = await world(armed);
    await w.world.faults.arm('op-1', [{ rule: 0, position: 3 }]);
    expect(await ending((await tool(w, 'op-2')).send(MAIL))).toBe('sent');
    expect(await own(w)).toBe(250);
    expect(await ending((await tool(w)).send(MAIL))).toBe(LOST);
    expect(await w.world.faults.injected()).toMatchObject([{ rule: 0, on: 'send_mail', position: 3, operation: 'op-1' }]);
    expect(await w.world.ledger.recover('op-1', 1)).toMatchObject({ effects: 1 });
  });

  test('is followed by what somebody else changes', async () => {
    const row = { ticket_id: null, author: 'x', body: 'theirs', public: true, created_at: '2026-03-02T08:00:00Z' };
    const ticket = { id: 1, subject: 's', body: 'b', requester: 'r', created_at: '2026-03-02T08:00:00Z', updated_at: '2026-03-02T08:00:00Z' };
    const w = await world(
      rule({ kind: 'concurrent_change', when: 'before', changes: [{ insert: 'tickets', rows: [ticket] }] }, [1]),
      rule({ kind: 'concurrent_change', when: 'after', changes: [{ insert: 'comments', rows: [{ ...row, ticket_id: 1 }] }] }, [1], 1),
    );
    expect(await own(w)).toBe(250);
    expect((await w.world.observe()).effects.map((effect) => [effect.kind, effect.byFault])).toEqual([
      ['row', 0],
      ['mail', undefined],
      ['row', 1],
    ]);
  });

  test('after the fence meets no fault: the mail is late', async () => {
    const w = await world(rule({ kind: 'smtp_final_dot', stored: true }));
    await w.fence();
    expect(await own(w)).toBe(550);
    expect(await w.mails()).toEqual([]);
    expect(await w.late()).toMatchObject([{ source: 'smtp' }]);
    expect(await w.world.faults.injected()).toEqual([]);
  });
});
