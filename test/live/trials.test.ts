import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { stringify } from 'yaml';
import type { JsonObject } from '../../src/domain/json.ts';
import type { TrialRecord } from '../../src/domain/record.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { requireOrSkip, skipTitle } from '../harness/requirements.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { type ResponseCut, startResponseCut } from './response-cut.ts';
import { startTicketServer, type TicketServer } from './ticket-server.ts';

const tickets = await requireOrSkip('tickets');
const SUITE = 'src/environments/live-desk/suite';

describe.skipIf(!tickets.met)(skipTitle('trials on a real ticket system', tickets), () => {
  let server: TicketServer;
  let way: ResponseCut;
  let testbed: Testbed;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trialbed-live-'));
    server = await startTicketServer();
    way = await startResponseCut(server.address);
    process.env['TRIALBED_LIVE_TICKETS_URL'] = way.address;
    process.env['TRIALBED_LIVE_TICKETS_TOKEN'] = server.token;
    testbed = await startTestbed(inject('services'));
  });
  afterAll(async () => {
    await testbed?.[Symbol.asyncDispose]();
    await way?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const recordOf = async ({ trial, attempt }: TrialSummary): Promise<TrialRecord> => {
    const record = await testbed.root.store.record(trial, attempt);
    if (!record) throw new Error('the trial has no record');
    return record;
  };
  const only = (trials: readonly TrialSummary[]): TrialSummary => {
    const [trial] = trials;
    if (trials.length !== 1 || !trial) throw new Error(`the batch has ${trials.length} trials`);
    return trial;
  };
  const spaces = async () => {
    const found = await server.ask('POST', '/queues?find_disabled_rows=1&fields=Name,Disabled&per_page=100', [
      { field: 'Name', operator: 'LIKE', value: 'trialbed-' },
    ]);
    return found['items'] as readonly { readonly Name: string; readonly Disabled: string }[];
  };

  const script = async (name: string, steps: readonly JsonObject[]) => {
    const file = join(folder, `${name}.yaml`);
    await writeFile(file, stringify({ name, version: '1', kind: 'script', steps, answer: 'I wrote the comment in ticket 210 and set it to solved.' }));
    return file;
  };
  const comment = { call: 'comment_ticket', with: { ticket_id: 210, public: true, body: 'All your receipts are under "My orders".' } };
  const solve = { call: 'update_ticket', with: { ticket_id: 210, status: 'solved' } };
  const look = { call: 'get_ticket', with: { ticket_id: 210 } };

  test('the tools and agents of the support desk are graded by what the server says has changed, and nothing of theirs is left open there', async () => {
    const agents = ['reference', 'src/environments/support-desk/suite/agents/hasty.yaml'];
    const { trials } = await testbed.run({ suite: SUITE, agents, cases: ['close-with-comment', 'duplicate-tickets'] });
    const passed = (agent: string) => trials.filter((trial) => trial.agent === agent && trial.pass === 'pass').map((trial) => trial.case);
    expect(passed('reference').toSorted()).toEqual(['close-with-comment', 'duplicate-tickets']);
    // It closes the wrong one of two, or none, here as with the fixture.
    expect(passed('hasty')).toEqual(['close-with-comment']);
    const closed = trials.find((trial) => trial.agent === 'reference' && trial.case === 'close-with-comment');
    const record = await recordOf(closed ?? only([]));
    expect(record.live).toEqual({ tickets: expect.stringMatching(/^Request Tracker 5/) });
    expect(record.effects).toMatchObject([
      { table: 'ticket_comments', change: 'insert', after: { ticket_id: 210, author: 'mara', public: true }, operation: 'op-2' },
      { table: 'tickets', change: 'update', key: { id: 210 }, before: { status: 'open' }, after: { status: 'solved' }, operation: 'op-3' },
    ]);
    // The case's clock, not the server's.
    expect(record.effects[0]?.at).toMatch(/^2026-03-02T08:/);
    expect((await spaces()).map(({ Disabled }) => Disabled)).toEqual(trials.map(() => '1'));
    expect(await testbed.root.store.liveSpaces.over(new Date(8.64e15), [])).toEqual([]);
  });

  test('an answer that is lost is told as unknown, and graded by what was done', async () => {
    const agent = await script('loses-an-answer', [comment, look, solve]);
    way.loseAnswerTo('POST /REST/2.0/ticket/');
    const trial = only((await testbed.run({ suite: SUITE, agents: [agent], cases: ['close-with-comment'] })).trials);
    const { operations, effects } = await recordOf(trial);
    expect(operations.map(({ told, known }) => [told, known])).toEqual([
      ['unknown', 'committed'],
      ['committed', 'committed'],
      ['committed', 'committed'],
    ]);
    expect(effects.map(({ operation }) => operation)).toEqual(['op-1', 'op-3']);
    expect(trial).toMatchObject({ ending: 'completed', pass: 'pass' });
  });

  test('a server that is switched off in the midst leaves the call unknown; when it is back, its history says that nothing was done', async () => {
    const agent = await script('loses-the-server', [comment, solve]);
    let back: Promise<void> = Promise.resolve();
    way.swallow('PUT /REST/2.0/ticket/', async () => {
      await server.stop();
      back = server.start();
      back.catch(() => undefined);
    });
    const trial = only((await testbed.run({ suite: SUITE, agents: [agent], cases: ['close-with-comment'] })).trials);
    await back;
    const { operations, effects } = await recordOf(trial);
    expect(operations.map(({ told, known }) => [told, known])).toEqual([
      ['committed', 'committed'],
      ['unknown', 'failed'],
    ]);
    expect(effects).toMatchObject([{ table: 'ticket_comments', operation: 'op-1' }]);
    expect(trial).toMatchObject({ ending: 'completed', pass: 'fail', attempt: 1 });
  });
});
