import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import { ToolFailure } from '../../src/environments/define.ts';
import type { TrialRecord } from '../../src/domain/record.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { mailAccounts } from '../../src/live/mail/accounts.ts';
import { mailServer } from '../../src/live/mail/mail-server.ts';
import type { LiveRequest, Space } from '../../src/live/live-service.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { requireOrSkip, skipTitle } from '../harness/requirements.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { type MailHost, startMailHost } from './mail-host.ts';

const mail = await requireOrSkip('mail');

describe.skipIf(!mail.met)(skipTitle('mail at a real server', mail), () => {
  let host: MailHost;
  let testbed: Testbed;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trialbed-live-mail-'));
    host = await startMailHost();
    process.env['TRIALBED_LIVE_MAIL_URL'] = host.address;
    process.env['TRIALBED_LIVE_MAIL_ACCOUNTS'] = host.secret;
    testbed = await startTestbed(inject('services'));
  });
  afterAll(async () => {
    await testbed?.[Symbol.asyncDispose]();
    await host?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const TO_ANNA = { to: ['anna.berg@mail.example'], subject: 'Your parcel', text: 'It is on its way to you, and comes on Friday.' };
  let suites = 0;
  const run = async (steps: readonly JsonObject[]): Promise<{ readonly trial: TrialSummary; readonly record: TrialRecord }> => {
    const suite = await writeOneCaseSuite(folder, `mail-${++suites}`, {
      environment: { use: resolve('test/fixtures/packs/live-mail/pack.ts') },
      agent: { kind: 'script', steps, answer: 'Done.' },
      kase: {
        expect: { outcomes: [{ name: 'told', effects: [{ mail: ['anna.berg@mail.example'] }] }] },
        expects_nothing: false,
        reference: { steps: [{ call: 'send_mail', with: TO_ANNA }], answer: 'Done.' },
      },
    });
    const [trial] = (await testbed.run({ ...suite, keep: 'never' })).trials;
    const record = trial && (await testbed.root.store.record(trial.trial, trial.attempt));
    if (!record) throw new Error(`the trial has no record: ${JSON.stringify(trial)}`);
    return { trial, record };
  };

  /** Once a trial has handed in its first mail. */
  const sentOnce = async (): Promise<void> => {
    for (const end = Date.now() + 30_000; Date.now() < end; await new Promise((done) => setTimeout(done, 50))) {
      const [space] = await testbed.root.store.liveSpaces.over(new Date(8.64e15), []);
      if (space && (await testbed.root.store.liveSpaces.requests(space.world, 'mail')).some(({ answered }) => answered !== null)) return;
    }
    throw new Error('no mail was sent');
  };

  test('is graded by what has arrived, and nothing of it is left there', async () => {
    const { trial, record } = await run([{ call: 'send_mail', with: TO_ANNA }]);
    expect(trial).toMatchObject({ pass: 'pass', ending: 'completed', disturbed: false });
    expect(record.live).toEqual({ mail: expect.stringMatching(/^Postfix 3\.\S+ with Dovecot 2/) });
    expect(record.effects).toMatchObject([
      {
        kind: 'mail',
        accepted: true,
        from: 'support@nordlicht.example',
        recipients: [{ address: 'anna.berg@mail.example', code: 250 }],
        subject: 'Your parcel',
        operation: 'op-1',
      },
    ]);
    expect((record.effects[0] as { readonly headers?: JsonObject }).headers).not.toHaveProperty('received');
    expect(await testbed.root.store.liveSpaces.over(new Date(8.64e15), [])).toEqual([]);
    const stranger = await run([{ call: 'send_mail', with: { ...TO_ANNA, to: ['anna.berg@mail.example', 'stranger@else.example'] } }]);
    expect(stranger.trial).toMatchObject({ pass: 'fail', effects: 'fail' });
  });

  test('where the reply to the final dot is lost the agent is told so, and the mailbox knows', async () => {
    host.loseReply();
    const { trial, record } = await run([
      { call: 'send_mail', with: TO_ANNA, as: 'sent' },
      { call: 'get_operation', with: { operation: '${sent!operation}' }, as: 'found' },
    ]);
    expect(record.operations[0]).toMatchObject({ told: 'unknown', known: 'committed' });
    expect(record.operations[1]).toMatchObject({ result: { state: 'committed' } });
    expect(trial).toMatchObject({ pass: 'pass', disturbed: false });
  });

  test('a server that is switched off in the middle of a trial: the agent is told that nothing was sent, and the trial is graded once it is back', async () => {
    const running = run([
      { call: 'send_mail', with: TO_ANNA },
      { call: 'wait', with: { seconds: 1 } },
      { call: 'send_mail', with: { ...TO_ANNA, subject: 'A second one' } },
    ]);
    running.catch(() => undefined);
    await sentOnce();
    await host.stop();
    await new Promise((done) => setTimeout(done, 4_000));
    await host.start();
    const { record } = await running;
    // Which calls found it away is a matter of moments; what each was told must be what has arrived.
    const arrived = new Set(record.effects.map(({ operation }) => operation));
    for (const { id, tool, told, known } of record.operations.filter((one) => one.tool === 'send_mail')) {
      expect([tool, arrived.has(id)]).toEqual([tool, known === 'committed']);
      if (told !== 'unknown') expect(known).toBe(told);
    }
  });

  test('an account sends as itself and within its domain alone, and not once it is fenced', async () => {
    const service = mailServer({ address: host.address, secret: host.secret }, { quietMs: 500 });
    const space = (name: string): Space => ({
      name,
      password: `password of ${name}`,
      until: new Date(Date.now() + 3_600_000),
      shiftMs: 0,
      actsFor: 'mara',
      kept: {},
      rows: async () => [],
    });
    const [one, other] = [space('trialbed-one-1'), space('trialbed-other-1')];
    for (const each of [one, other]) await service.provision(each);
    const requests: LiveRequest[] = [];
    const log = {
      sent: async (sent: JsonObject) => requests.push({ number: requests.length + 1, operation: 'op-1', attempt: 1, sent, answered: null }),
      answered: async (number: number, answered: JsonObject) => {
        const request = requests[number - 1];
        if (request) requests[number - 1] = { ...request, answered };
      },
    };
    const call = { operation: { id: 'op-1', attempt: 1 }, now: new Date(), signal: new AbortController().signal };
    const letter = { from: 'support@nordlicht.example', to: ['anna@mail.example'], subject: 'A letter', text: 'Hello.' };
    // Not by the client, which contains every address: by the server itself.
    const { deliver, compose } = await import('../../src/environments/inbox/delivery.ts');
    const at = {
      host: '127.0.0.1',
      port: Number(new URL(host.address).port),
      tls: 'none',
      user: 'send@trialbed-one-1.trials.test',
      password: one.password,
    } as const;
    const raw = async (from: string, to: string) => deliver({ ...(await compose(letter, '<x@y>', new Date())), from, recipients: [to] }, at);
    await expect(raw('a@trialbed-other-1.trials.test', 'b@trialbed-one-1.trials.test')).rejects.toThrow(/553/);
    await expect(raw('a@trialbed-one-1.trials.test', 'b@trialbed-other-1.trials.test')).rejects.toThrow(/554/);
    await expect(raw('a@trialbed-one-1.trials.test', 'anna@mail.example')).rejects.toThrow(/554/);
    await expect(service.client(one, call, log).send({ ...letter, text: 'x'.repeat(1_200_000) })).rejects.toThrow(ToolFailure);

    await service.client(one, call, log).send({ ...letter, bcc: ['hidden@mail.example'] });
    await service.fence(one, { drainMs: 0 });
    await expect(service.client(one, call, log).send(letter)).rejects.toMatchObject({ code: 'mail_refused' });
    const seen = await service.observe(one, requests);
    expect(seen.effects).toMatchObject([{ recipients: [{ address: 'anna@mail.example' }, { address: 'hidden@mail.example' }], operation: 'op-1' }]);
    expect(seen.open.size).toBe(0);
    expect((await service.observe(other, [])).effects).toEqual([]);
    for (const { name } of [one, other]) await service.release(name);
    await expect(mailAccounts(host.secret).remove('nothing')).resolves.toBe(undefined);
    await expect(service.observe(one, [])).rejects.toThrow(/mail server/);
  });

  test('a server that stands still for a while delays what is asked of it, and nothing is lost or doubled', async () => {
    await host.freeze();
    const running = run([{ call: 'send_mail', with: TO_ANNA }]);
    running.catch(() => undefined);
    await new Promise((done) => setTimeout(done, 3_000));
    await host.thaw();
    const { trial, record } = await running;
    expect(trial).toMatchObject({ pass: 'pass' });
    expect(record.effects).toHaveLength(1);
  });
});
