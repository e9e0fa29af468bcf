import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { requireOrSkip, skipTitle } from '../harness/requirements.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { type MailHost, startMailHost } from './mail-host.ts';
import { startTicketServer, type TicketServer } from './ticket-server.ts';

const [mail, tickets] = [await requireOrSkip('mail'), await requireOrSkip('tickets')];
const unmet = mail.met ? tickets : mail;

describe.skipIf(!unmet.met)(skipTitle('the desk with tickets and mail at real servers', unmet), () => {
  let host: MailHost;
  let server: TicketServer;
  let testbed: Testbed;
  beforeAll(async () => {
    [host, server] = await Promise.all([startMailHost(), startTicketServer()]);
    process.env['TRIALBED_LIVE_MAIL_URL'] = host.address;
    process.env['TRIALBED_LIVE_MAIL_ACCOUNTS'] = host.secret;
    process.env['TRIALBED_LIVE_TICKETS_URL'] = server.address;
    process.env['TRIALBED_LIVE_TICKETS_TOKEN'] = server.token;
    testbed = await startTestbed(inject('services'));
  });
  afterAll(async () => {
    await testbed?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
    await host?.[Symbol.asyncDispose]();
  });

  test('one trial has an account at each, is graded by what both show, and leaves neither behind', async () => {
    const { trials } = await testbed.run({
      suite: 'src/environments/live-desk/suite',
      cases: ['lost-parcel'],
      environmentOptions: { mail: 'live' },
      keep: 'never',
    });
    expect(trials).toMatchObject([{ pass: 'pass', disturbed: false }]);
    const [trial] = trials;
    const record = trial && (await testbed.root.store.record(trial.trial, trial.attempt));
    expect(record?.live).toEqual({ mail: expect.stringContaining('Dovecot'), tickets: expect.stringContaining('Request Tracker') });
    expect(record?.effects.find(({ kind }) => kind === 'mail')).toMatchObject({ recipients: [{ address: 'kacper.wojcik@example.net' }] });
    expect(await testbed.root.store.liveSpaces.over(new Date(8.64e15), [])).toEqual([]);
  });
});
