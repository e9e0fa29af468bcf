import { readFile } from 'node:fs/promises';
import { createTransport } from 'nodemailer';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { InboxOptions } from '../../src/environments/define.ts';
import { decodeMail } from '../../src/environments/inbox/decode.ts';
import { type Inbox, startInbox } from '../../src/environments/inbox/inbox.ts';
import type { ServiceDirectory } from '../../src/environments/services.ts';
import { Dialogue } from './inbox-dialogue.ts';
import { openServiceWorlds, type ServiceWorld, type ServiceWorlds } from './inbox-worlds.ts';

let worlds: ServiceWorlds;
let inbox: Inbox & AsyncDisposable;
const world = (options?: InboxOptions): Promise<ServiceWorld> => worlds.make(options);
const fixture = (name: string) => readFile(new URL(`../fixtures/mail/${name}.eml`, import.meta.url));

beforeAll(async () => {
  worlds = await openServiceWorlds(inject('services').postgresUrl);
  inbox = await startInbox({
    directory: worlds.directory,
    listen: '127.0.0.1',
    log: pino({ level: 'silent' }),
    limits: { recipients: 5, headerBytes: 4_096, messageBytes: 1024 * 1024 },
  });
});
afterAll(async () => {
  await inbox[Symbol.asyncDispose]();
  await worlds[Symbol.asyncDispose]();
});

const asAgent = (w: ServiceWorld) => Dialogue.login(inbox, w.credentials.user, w.credentials.agentSecret);
const asTool = (w: ServiceWorld, operation = 'op-1.1') => Dialogue.login(inbox, `${w.credentials.user}+${operation}`, w.credentials.toolSecret);
const HEAD = 'From: a@desk.example\r\nTo: anna@example.org\r\nDate: Mon, 02 Mar 2026 09:30:00 +0100\r\n';

/** Until the server has noticed a lost connection. */
async function eventually<T>(read: () => Promise<readonly T[]>): Promise<readonly T[]> {
  for (let tries = 0; tries < 200; tries += 1) {
    const rows = await read();
    if (rows.length > 0) return rows;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return [];
}

describe('who may speak', () => {
  test('public case 10: eight worlds at once, same recipient and subject, see exactly their own mail', async () => {
    const worlds = await Promise.all(Array.from({ length: 8 }, () => world()));
    await Promise.all(
      worlds.map(async (w, index) => {
        const transport = createTransport({ ...inbox, secure: false, ignoreTLS: true, auth: { user: w.credentials.user, pass: w.credentials.agentSecret } });
        for (let n = 0; n <= index; n += 1)
          await transport.sendMail({ from: 'desk@desk.example', to: 'anna@example.org', subject: 'Your refund', text: `from world ${w.id}` });
        transport.close();
      }),
    );
    for (const [index, w] of worlds.entries()) {
      const mails = await w.mails();
      expect(mails.map((mail) => mail.text)).toEqual(Array.from({ length: index + 1 }, () => `from world ${w.id}`));
      expect(mails.every((mail) => mail.accepted && mail.subject === 'Your refund' && mail.operation === null)).toBe(true);
    }
  });

  test("another world's secret, a wrong secret and no secret are refused", async () => {
    const [a, b] = [await world(), await world()];
    await using dialogue = await Dialogue.open(inbox);
    expect((await dialogue.say('MAIL FROM:<a@desk.example>')).code).toBe(530);
    expect((await dialogue.auth(a.credentials.user, b.credentials.agentSecret)).code).toBe(535);
    expect((await dialogue.auth('nobody', 'x')).code).toBe(535);
    expect((await dialogue.auth(a.credentials.user, '')).code).toBe(421);
    expect(await a.mails()).toEqual([]);
  });

  test('an operation is believed with the tool secret and refused with the agent secret', async () => {
    const w = await world();
    await using forger = await Dialogue.open(inbox);
    expect((await forger.auth(`${w.credentials.user}+op-1.1`, w.credentials.agentSecret)).code).toBe(535);
    await using tool = await asTool(w, 'op.with.dots-7.2');
    expect((await tool.mail('a@desk.example', ['anna@example.org'], `${HEAD}Subject: x\r\n\r\nhello`)).code).toBe(250);
    expect((await w.mails()).map((mail) => mail.operation)).toEqual(['op.with.dots-7']);
  });

  test('AUTH LOGIN works, and several messages go through one connection, pipelined', async () => {
    const w = await world();
    await using dialogue = await Dialogue.open(inbox);
    await dialogue.say('AUTH LOGIN');
    await dialogue.say(Buffer.from(w.credentials.user).toString('base64'));
    expect((await dialogue.say(Buffer.from(w.credentials.agentSecret).toString('base64'))).code).toBe(235);
    for (const n of [1, 2, 3]) {
      dialogue.write(`MAIL FROM:<a@desk.example>\r\nRCPT TO:<anna@example.org>\r\nDATA\r\n`);
      expect([(await dialogue.reply()).code, (await dialogue.reply()).code, (await dialogue.reply()).code]).toEqual([250, 250, 354]);
      expect((await dialogue.say(`${HEAD}Subject: n${n}\r\n\r\n..dot\r\n.`)).code).toBe(250);
    }
    const mails = await w.mails();
    expect(mails.map((mail) => mail.subject)).toEqual(['n1', 'n2', 'n3']);
    expect(mails[0]?.text).toBe('.dot');
  });
});

describe('what is recorded', () => {
  test.each([
    'folded-unicode-subject',
    '8bit-header-utf8',
    '8bit-header-latin1',
    'bare-lf',
    'bare-cr',
    'many-violations',
    'multipart',
    'html-only',
    'broken-mime',
  ])('%s is kept byte for byte and decodes again to the same view', async (name) => {
    const w = await world();
    const raw = await fixture(name);
    await using dialogue = await asAgent(w);
    await dialogue.envelope('a@desk.example', ['anna@example.org']);
    dialogue.write(Buffer.from(raw.toString('latin1').replaceAll('\n.', '\n..'), 'latin1'));
    expect((await dialogue.say(raw.subarray(-2).toString() === '\r\n' ? '.' : '\r\n.')).code).toBe(250);
    const stored = (await w.raws())[0] ?? Buffer.alloc(0);
    expect(stored.subarray(0, raw.length).equals(raw)).toBe(true);
    const { subject, text, headers, messageId, attachments, violations } = (await w.mails())[0] ?? ({} as never);
    expect({ subject, text, headers, messageId, attachments, violations }).toEqual(await decodeMail(stored));
  });

  test('a final dot after bare line feeds ends nothing, so no second mail is smuggled in', async () => {
    const w = await world();
    await using dialogue = await asAgent(w);
    await dialogue.envelope('a@desk.example', ['anna@example.org']);
    dialogue.write(`${HEAD}Subject: x\r\n\r\nhello\n.\r\nMAIL FROM:<b@desk.example>\r\nRCPT TO:<evil@evil.test>\r\nDATA\r\nSubject: smuggled\r\n\r\nx`);
    expect((await dialogue.say('\r\n.')).code).toBe(250);
    const mails = await w.mails();
    expect(mails.map((mail) => mail.recipients)).toEqual([[{ address: 'anna@example.org', code: 250 }]]);
    expect(mails[0]?.violations).toContain('bare_lf');
  });

  test('public case 16: only the envelope says who gets it; a Bcc header is a header', async () => {
    const w = await world();
    await using dialogue = await asAgent(w);
    await dialogue.mail('a@desk.example', ['anna@example.org'], `${HEAD}Subject: Hi\r\nBcc: attacker@evil.test\r\n\r\nhello`);
    await dialogue.mail('a@desk.example', ['anna@example.org', 'attacker@evil.test'], `${HEAD}Subject: Hi\r\n\r\nhello`);
    const mails = await w.mails();
    expect(mails.map((mail) => mail.recipients.map((r) => r.address))).toEqual([['anna@example.org'], ['anna@example.org', 'attacker@evil.test']]);
    expect(mails[0]?.headers.bcc).toBe('attacker@evil.test');
  });

  test('each recipient has the code that it was answered; a mailbox named twice is one', async () => {
    const w = await world({ recipients: { known: ['anna@Example.org', 'bert@example.org'] } });
    await using dialogue = await asAgent(w);
    await dialogue.envelope('a@desk.example', ['anna@EXAMPLE.org', 'Anna@example.org', 'not an address', 'bert@example.org', 'anna@example.org']);
    await dialogue.say(`${HEAD}Subject: x\r\n\r\nhello\r\n.`);
    expect((await w.mails())[0]?.recipients).toEqual([
      { address: 'anna@example.org', code: 250 },
      { address: 'Anna@example.org', code: 550 },
      { address: '<not an address>', code: 501 },
      { address: 'bert@example.org', code: 250 },
    ]);
  });

  test('more recipients than the limit are answered 452', async () => {
    const w = await world();
    await using dialogue = await asAgent(w);
    await dialogue.mail(
      'a@desk.example',
      [1, 2, 3, 4, 5, 6, 7].map((n) => `r${n}@example.org`),
      `${HEAD}Subject: x\r\n\r\nhello`,
    );
    expect((await w.mails())[0]?.recipients.map((r) => r.code)).toEqual([250, 250, 250, 250, 250, 452, 452]);
  });
});

describe('what is refused', () => {
  test('all recipients refused: recorded before DATA is answered', async () => {
    const w = await world({ recipients: { known: ['anna@example.org'] } });
    await using dialogue = await asTool(w);
    expect((await dialogue.envelope('a@desk.example', ['nobody@example.org'])).code).toBe(503);
    expect(await w.mails()).toMatchObject([
      {
        accepted: false,
        from: 'a@desk.example',
        recipients: [{ address: 'nobody@example.org', code: 550 }],
        violations: ['refused:recipients'],
        operation: 'op-1',
      },
    ]);
    // The transaction goes on: another recipient, and DATA again.
    expect((await dialogue.say('RCPT TO:<anna@example.org>')).code).toBe(250);
    await dialogue.say('DATA');
    expect((await dialogue.say(`${HEAD}Subject: x\r\n\r\nhello\r\n.`)).code).toBe(250);
    expect((await w.mails()).map((mail) => mail.accepted)).toEqual([false, true]);
  });

  test.each(['RSET', 'QUIT', 'EHLO again.example', 'MAIL FROM:<b@desk.example>'])('given up by %s', async (command) => {
    const w = await world({ recipients: { known: ['anna@example.org'] } });
    await using dialogue = await asAgent(w);
    await dialogue.say('MAIL FROM:<a@desk.example>');
    await dialogue.say('RCPT TO:<anna@example.org>');
    await dialogue.say(command);
    if (command.startsWith('MAIL')) await dialogue.say('RSET');
    expect((await w.mails()).map((mail) => [mail.accepted, mail.violations])).toEqual([[false, ['refused:abandoned']]]);
  });

  test('too large: announced in MAIL, or found out in DATA', async () => {
    const w = await world({ maxBytes: 2_000 });
    await using dialogue = await asAgent(w);
    expect((await dialogue.say('MAIL FROM:<a@desk.example> SIZE=2001')).code).toBe(552);
    expect((await dialogue.say('RCPT TO:<anna@example.org>')).code).toBe(503);
    expect((await dialogue.mail('a@desk.example', ['anna@example.org'], `${HEAD}Subject: big\r\n\r\n${'x'.repeat(5_000)}`)).code).toBe(552);
    expect((await dialogue.mail('a@desk.example', ['anna@example.org'], `${HEAD}Subject: small\r\n\r\nx`)).code).toBe(250);
    const mails = await w.mails();
    expect(mails.map((mail) => [mail.accepted, mail.subject, mail.violations.filter((v) => v.startsWith('refused'))])).toEqual([
      [false, '', ['refused:sender']],
      [false, 'big', ['refused:message_too_large']],
      [true, 'small', []],
    ]);
    expect((await w.raws()).every((raw) => raw.length <= 2_000)).toBe(true);
  });

  test('a header too large', async () => {
    const w = await world();
    await using dialogue = await asAgent(w);
    expect((await dialogue.mail('a@desk.example', ['anna@example.org'], `${HEAD}${'X-A: y\r\n'.repeat(1_000)}\r\nhello`)).code).toBe(552);
    expect((await w.mails())[0]).toMatchObject({ accepted: false, violations: ['refused:header_too_large'] });
  });

  test('a flood without end is cut off', async () => {
    const w = await world();
    await using dialogue = await asAgent(w);
    await dialogue.envelope('a@desk.example', ['anna@example.org']);
    dialogue.write(Buffer.alloc(6 * 1024 * 1024, 'x'));
    expect((await dialogue.reply()).code).toBe(421);
    expect((await w.mails()).map((mail) => [mail.accepted, mail.violations.at(-1)])).toEqual([[false, 'refused:message_too_large']]);
  });

  test('public case 2: a connection lost in mid-DATA leaves no mail, and a record of the attempt', async () => {
    const w = await world();
    const dialogue = await asTool(w, 'op-9.1');
    await dialogue.envelope('a@desk.example', ['anna@example.org']);
    dialogue.write(`${HEAD}Subject: half\r\n\r\nhello `);
    await dialogue.drop();
    expect(await eventually(() => w.mails())).toMatchObject([{ accepted: false, subject: 'half', operation: 'op-9', recipients: [{ code: 250 }] }]);
    expect((await w.mails())[0]?.violations.at(-1)).toBe('refused:connection_lost');
  });

  test('in progress at the fence: refused at the final dot, and listed as late', async () => {
    const w = await world();
    await using dialogue = await asTool(w, 'op-3.1');
    await dialogue.envelope('a@desk.example', ['anna@example.org']);
    dialogue.write(`${HEAD}Subject: slow\r\n\r\nhello`);
    await w.fence();
    dialogue.write(' world');
    expect((await dialogue.say('\r\n.')).code).toBe(550);
    expect((await w.mails()).filter((mail) => mail.accepted)).toEqual([]);
    expect(await w.late()).toMatchObject([{ source: 'smtp', operation: 'op-3' }]);
  });
});

test('connections beyond the limit, and idle ones, are answered 421', async () => {
  const w = await world();
  await using small = await startInbox({
    directory: worlds.directory,
    listen: '127.0.0.1',
    log: pino({ level: 'silent' }),
    limits: { connections: 1, idleMs: 300 },
  });
  await using first = await Dialogue.login(small, w.credentials.user, w.credentials.agentSecret);
  await using second = await Dialogue.connect(small);
  expect((await second.reply()).code).toBe(421);
  expect((await first.reply()).code).toBe(421);
  await using third = await Dialogue.connect(small);
  expect((await third.reply()).code).toBe(220);
});

test('when the database does not answer at the final dot, the client gets no reply that could be a lie', async () => {
  const w = await world();
  const lost: ServiceDirectory = {
    async authenticate(id, secret) {
      const session = await worlds.directory.authenticate(id, secret);
      return session && { ...session, storeMail: async (mail) => Promise.reject(new Error(`lost after ${(await session.storeMail(mail)).seq}`)) };
    },
  };
  await using other = await startInbox({ directory: lost, listen: '127.0.0.1', log: pino({ level: 'silent' }) });
  await using dialogue = await Dialogue.login(other, w.credentials.user, w.credentials.agentSecret);
  expect((await dialogue.mail('a@desk.example', ['anna@example.org'], `${HEAD}Subject: x\r\n\r\nhello`)).code).toBe(0);
  expect((await w.mails()).map((mail) => mail.accepted)).toEqual([true]);
});

test('a server that closes answers the message in progress or ends it, and records it', async () => {
  const w = await world();
  const other = await startInbox({ directory: worlds.directory, listen: '127.0.0.1', log: pino({ level: 'silent' }) });
  const idle = await Dialogue.login(other, w.credentials.user, w.credentials.agentSecret);
  const busy = await Dialogue.login(other, w.credentials.user, w.credentials.agentSecret);
  await busy.envelope('a@desk.example', ['anna@example.org']);
  busy.write(`${HEAD}Subject: cut\r\n\r\nhello`);
  await other[Symbol.asyncDispose]();
  expect((await idle.reply()).code).toBe(0);
  expect((await w.mails()).map((mail) => [mail.accepted, mail.violations.at(-1)])).toEqual([[false, 'refused:connection_lost']]);
});
