import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type InboxOptions, type OutgoingMail, ToolFailure } from '../../src/environments/define.ts';
import { createWorldMail, type WorldMailOptions } from '../../src/environments/inbox/client.ts';
import type { MailPhase } from '../../src/environments/inbox/delivery.ts';
import { type Inbox, startInbox } from '../../src/environments/inbox/inbox.ts';
import { openServiceWorlds, type ServiceWorld, type ServiceWorlds } from './inbox-worlds.ts';

let worlds: ServiceWorlds;
let inbox: Inbox & AsyncDisposable;
const world = (options?: InboxOptions): Promise<ServiceWorld> => worlds.make(options);

beforeAll(async () => {
  worlds = await openServiceWorlds(inject('services').postgresUrl);
  inbox = await startInbox({ directory: worlds.directory, listen: '127.0.0.1', log: pino({ level: 'silent' }) });
});
afterAll(async () => {
  await inbox[Symbol.asyncDispose]();
  await worlds[Symbol.asyncDispose]();
});

const mailOf = (w: ServiceWorld, options: Partial<WorldMailOptions> = {}) =>
  createWorldMail({ address: inbox, credentials: w.credentials, operation: { id: 'op-1', attempt: 1 }, now: new Date('2026-03-02T08:30:00Z'), ...options });
const MAIL: OutgoingMail = { from: 'Desk <desk@desk.example>', to: ['Anna Berg <anna@example.org>'], subject: 'Your refund', text: 'Hello' };
const accepted = async (w: ServiceWorld) => (await w.mails()).filter((mail) => mail.accepted);

/** How a send ended: the failure's code, or that it is unknown, or sent. */
async function ending(send: Promise<unknown>): Promise<string> {
  try {
    await send;
    return 'sent';
  } catch (error) {
    return error instanceof ToolFailure ? error.code : `unknown: ${(error as { code?: string }).code}`;
  }
}

describe('what is sent', () => {
  test('one message, with the operation in its Message-ID, the world clock in its Date, Bcc in the envelope alone', async () => {
    const w = await world();
    const mail = mailOf(w);
    const { messageId } = await mail.send({ ...MAIL, cc: ['bert@example.org'], bcc: ['secret@example.org'], replyTo: 'help@desk.example' });
    const second = await mail.send(MAIL);
    expect(messageId).toBe(`<op-1.1@${w.id}.trialbed.invalid>`);
    expect(second.messageId).toBe(`<op-1.2@${w.id}.trialbed.invalid>`);
    const [first] = await w.mails();
    expect(first).toMatchObject({
      accepted: true,
      operation: 'op-1',
      from: 'desk@desk.example',
      recipients: ['anna@example.org', 'bert@example.org', 'secret@example.org'].map((address) => ({ address, code: 250 })),
      messageId,
      violations: [],
      text: 'Hello',
    });
    expect(first?.headers).toMatchObject({
      date: 'Mon, 02 Mar 2026 08:30:00 +0000',
      to: 'Anna Berg <anna@example.org>',
      cc: 'bert@example.org',
      'reply-to': 'help@desk.example',
    });
    expect((await w.raws())[0]?.toString()).not.toContain('secret@example.org');
  });

  test('public case 15: a long Unicode subject, names and body arrive as they were, in NFC', async () => {
    const w = await world();
    const subject = 'Fwd: 東橫INN 首爾 – reçu 🧾 '.repeat(10).trim();
    await mailOf(w).send({ ...MAIL, to: ['"Zoë Ångström" <zoe@example.org>'], subject: subject.normalize('NFD'), text: 'Ça va, Zoë?'.normalize('NFD') });
    const [mail] = await w.mails();
    expect(mail).toMatchObject({ subject, text: 'Ça va, Zoë?', violations: [] });
    expect(mail?.headers.to).toBe('Zoë Ångström <zoe@example.org>');
    expect((await w.raws())[0]?.toString('latin1')).toMatch(/Subject: =\?UTF-8\?[BQ]\?[^\r\n]+\?=\r\n =\?/);
  });

  test('any text arrives as it was', async () => {
    const w = await world();
    const line = fc.oneof(fc.constantFrom('.', '..', '. dot', 'From x', '', ' ', 'trailing ', 'x'.repeat(200), '-- ', '=3D'), fc.string({ unit: 'grapheme' }));
    const text = fc
      .array(
        line.map((s) => s.replaceAll(/[\r\n\0\u0085\u2028\u2029]/g, '')),
        { maxLength: 8 },
      )
      .map((lines) => lines.join('\n'));
    await fc.assert(
      fc.asyncProperty(text, async (body) => {
        await mailOf(w).send({ ...MAIL, text: body });
        // SMTP ends every line, so a mail cannot tell whether the last one was ended before.
        expect((await w.mails()).at(-1)?.text).toBe(body.normalize('NFC').replace(/\n$/, ''));
      }),
      { numRuns: 40, examples: [[`${'word '.repeat(40)}\nnext`]] },
    );
  });

  test.each([
    ['subject', { subject: 'Hi\r\nBcc: attacker@evil.test' }],
    ['subject, lone CR', { subject: 'Hi\rBcc: attacker@evil.test' }],
    ['subject, lone LF and a body', { subject: 'Hi\n\nBcc: attacker@evil.test' }],
    ['name of the sender', { from: '"Desk\r\nBcc: attacker@evil.test" <desk@desk.example>' }],
    ['name of the recipient', { to: ['"Anna\r\nBcc: attacker@evil.test" <anna@example.org>'] }],
    ['reply-to', { replyTo: '"x\r\nBcc: attacker@evil.test" <help@desk.example>' }],
  ])('public case 16: a header in the %s becomes no header and no recipient', async (_, part) => {
    const w = await world();
    await ending(mailOf(w).send({ ...MAIL, ...part }));
    for (const mail of await w.mails()) {
      expect(mail.recipients.map((r) => r.address)).toEqual(['anna@example.org']);
      expect(mail.headers.bcc).toBeUndefined();
      expect(mail.text).toBe('Hello');
    }
  });

  test.each([
    ['two in one', 'anna@example.org, attacker@evil.test'],
    ['a group', 'Team: anna@example.org, bert@example.org;'],
    ['a command', 'anna@example.org>\r\nRCPT TO:<attacker@evil.test'],
    ['no address', 'Anna Berg'],
    ['nothing', ''],
  ])('an entry that is not one mailbox (%s) is refused, and nothing is sent', async (_, entry) => {
    const w = await world();
    for (const part of [{ to: [entry] }, { to: ['anna@example.org'], bcc: [entry] }, { from: entry }]) {
      expect(await ending(mailOf(w).send({ ...MAIL, ...part }))).toBe('mail_refused');
    }
    expect(await w.mails()).toEqual([]);
  });
});

describe('what is refused is a failure', () => {
  test('the only recipient; one of two: nobody gets it', async () => {
    const w = await world({ recipients: { known: ['anna@example.org'] } });
    expect(await ending(mailOf(w).send({ ...MAIL, to: ['nobody@example.org'] }))).toBe('mail_refused');
    expect(await w.mails()).toMatchObject([{ accepted: false, violations: ['refused:recipients'] }]);
    expect(await ending(mailOf(w).send({ ...MAIL, to: ['anna@example.org', 'nobody@example.org'] }))).toBe('mail_refused');
    expect(await accepted(w)).toEqual([]);
    expect(await ending(mailOf(w).send(MAIL))).toBe('sent');
  });

  test('a message too large; a fenced world; wrong credentials; no server', async () => {
    const w = await world({ maxBytes: 1_000 });
    expect(await ending(mailOf(w).send({ ...MAIL, text: 'x'.repeat(2_000) }))).toBe('mail_refused');
    await w.fence();
    expect(await ending(mailOf(w).send(MAIL))).toBe('mail_refused');
    expect(await w.late()).toMatchObject([{ source: 'smtp', operation: 'op-1' }]);
    expect(await ending(mailOf(w, { credentials: { ...w.credentials, toolSecret: 'wrong' } }).send(MAIL))).toBe('mail_refused');
    expect(await ending(mailOf(w, { address: { host: '127.0.0.1', port: 1 } }).send(MAIL))).toBe('mail_unavailable');
    expect(await accepted(w)).toEqual([]);
  });
});

test("public case 7: mail goes out of the operation's own transaction; an attempt that was given up is refused at the final dot", async () => {
  const w = await world();
  await w.world.ledger.propose({ id: 'op-1', tool: 'send_mail', args: {}, idempotencyKey: null, refusal: null });
  await w.world.transact({ id: 'op-1', attempt: 1 }, async () => ({ value: await mailOf(w).send(MAIL), result: null }));
  expect(await w.world.ledger.recover('op-1', 1)).toMatchObject({ row: { state: 'committed' }, effects: 1 });
  expect(await ending(mailOf(w).send(MAIL))).toBe('mail_refused');
  expect(await accepted(w)).toHaveLength(1);
  expect(await w.late()).toMatchObject([{ source: 'smtp', operation: 'op-1' }]);
});

test('a world that is gone has no account', async () => {
  const w = await world();
  await w.world.release({ reuse: false });
  expect(await ending(mailOf(w).send(MAIL))).toBe('mail_refused');
});

describe('public cases 1 and 2: a cut is told by its phase', () => {
  /** Between client and server. `cut` sees what the client and the server have said so far. */
  async function proxied(
    cut: (said: { readonly client: string; readonly server: string }) => boolean,
  ): Promise<{ host: string; port: number } & AsyncDisposable> {
    const sockets = new Set<Socket>();
    const server = createServer((client) => {
      const upstream = connect(inbox.port, inbox.host);
      const said = { client: '', server: '' };
      const stop = () => {
        client.destroy();
        upstream.destroy();
      };
      for (const socket of [client, upstream]) {
        sockets.add(socket);
        socket.on('error', stop).on('close', stop);
      }
      const relay = (from: Socket, to: Socket, side: 'client' | 'server') =>
        from.on('data', (chunk) => {
          if (said[side].length < 1_000_000) said[side] += chunk.toString('latin1');
          if (cut(said)) stop();
          else to.write(chunk);
        });
      relay(client, upstream, 'client');
      relay(upstream, client, 'server');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return {
      host: '127.0.0.1',
      port: (server.address() as AddressInfo).port,
      async [Symbol.asyncDispose]() {
        for (const socket of sockets) socket.destroy();
        server.close();
      },
    };
  }
  /** More than the buffers between two sockets hold. */
  const BIG = { ...MAIL, text: 'a long line of text, many times over\n'.repeat(500_000) };

  test.each([
    ['before the greeting', () => true, 'mail_unavailable', 0],
    ['at AUTH', (s: { client: string }) => s.client.includes('AUTH'), 'mail_unavailable', 0],
    ['at RCPT', (s: { client: string }) => s.client.includes('RCPT TO'), 'mail_unavailable', 0],
    ['in mid-DATA', (s: { client: string }) => s.client.length > 100_000, 'mail_unavailable', 0],
    ['after the final dot', (s: { server: string }) => s.server.includes('OK: stored'), 'unknown: mail_outcome_unknown', 1],
  ])('%s', async (_, cut, expected, mails) => {
    const w = await world({ maxBytes: 25 * 1024 * 1024 });
    await using address = await proxied(cut);
    expect(await ending(mailOf(w, { address }).send(BIG))).toBe(expected);
    expect(await accepted(w)).toHaveLength(mails);
  });

  test('a short message cut on its way: the client cannot know, the inbox does', async () => {
    const w = await world();
    await using address = await proxied(({ client }) => client.includes('Hello'));
    expect(await ending(mailOf(w, { address }).send(MAIL))).toBe('unknown: mail_outcome_unknown');
    expect(await accepted(w)).toEqual([]);
  });

  test('a reply that comes too late is unknown; sent again it is the same Message-ID twice', async () => {
    const w = await world();
    let silent = true;
    await using address = await proxied(() => false);
    const held = createServer((client) => {
      const upstream = connect(address.port, address.host);
      client.pipe(upstream);
      upstream.on('data', (chunk) => {
        if (!(silent && chunk.includes('OK: stored'))) client.write(chunk);
      });
      for (const socket of [client, upstream]) socket.on('error', () => undefined).on('close', () => [client, upstream].map((s) => s.destroy()));
    }).listen(0, '127.0.0.1');
    await once(held, 'listening');
    const slow = { host: '127.0.0.1', port: (held.address() as AddressInfo).port };
    expect(await ending(mailOf(w, { address: slow, timeoutMs: 300 }).send(MAIL))).toBe('unknown: mail_outcome_unknown');
    silent = false;
    expect(await ending(mailOf(w, { address: slow, operation: { id: 'op-1', attempt: 2 } }).send(MAIL))).toBe('sent');
    held.close();
    const mails = await accepted(w);
    expect(mails).toHaveLength(2);
    expect(new Set(mails.map((mail) => mail.messageId)).size).toBe(1);
  });

  test.each([
    ['connect', 'mail_unavailable', 0],
    ['recipients', 'mail_unavailable', 0],
    ['data', 'mail_unavailable', 0],
    ['final_dot', 'unknown: mail_outcome_unknown', 1],
  ] as const)('by a checkpoint at %s', async (phase: MailPhase, expected, mails) => {
    const w = await world();
    const checkpoint = (reached: MailPhase) => {
      if (reached === phase) throw new Error('cut');
    };
    expect(await ending(mailOf(w, { checkpoint }).send(MAIL))).toBe(expected);
    expect(await accepted(w)).toHaveLength(mails);
  });

  test('abort: before the final dot a failure', async () => {
    const w = await world();
    const stop = new AbortController();
    const checkpoint = (phase: MailPhase) => (phase === 'data' ? stop.abort(new Error('time is up')) : undefined);
    expect(await ending(mailOf(w, { checkpoint, signal: stop.signal }).send(MAIL))).toBe('mail_unavailable');
    expect(await accepted(w)).toEqual([]);
  });
});
