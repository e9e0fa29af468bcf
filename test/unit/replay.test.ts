import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommandLine } from '../../src/cli/program.ts';
import type { ReplayReport } from '../../src/client/api.ts';
import { TestHost } from './cli-support.ts';

/** A history of before steps were taken together: every step of the trial is an event of its own. */
const SCRIPT = 'reference.gmbu3nxrxk-d42713fe57a32251.json';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trialbed-replay-'));
});
afterAll(() => rm(folder, { recursive: true }));

interface Saved {
  workflowId?: string;
  events: { eventId: string; eventType: string; [attributes: string]: unknown }[];
}

async function saved(name: string): Promise<Saved> {
  return JSON.parse(await readFile(join('test/histories', name), 'utf8')) as Saved;
}

async function written(value: unknown): Promise<string> {
  const file = join(folder, `${(await readdir(folder)).length}.json`);
  await writeFile(file, typeof value === 'string' ? value : JSON.stringify(value));
  return file;
}

async function replay(...args: string[]): Promise<{ readonly exit: number; readonly out: string; readonly err: string }> {
  const host = new TestHost({ cwd: process.cwd() });
  const exit = await runCommandLine(['replay', ...args], host);
  return { exit, out: host.stdout, err: host.stderr };
}

async function report(file: string, ...args: string[]): Promise<ReplayReport & { readonly type: string }> {
  return JSON.parse((await replay('--file', file, '--json', ...args)).out);
}

/** A history with other attributes in one of its events. */
async function changed(change: (history: Saved) => void): Promise<string> {
  const history = await saved(SCRIPT);
  change(history);
  return written(history);
}

const attributes = (event: Saved['events'][number] | undefined): { [field: string]: unknown } =>
  Object.entries(event ?? {}).find(([field]) => field.endsWith('EventAttributes'))?.[1] as { [field: string]: unknown };

test('a saved history is compatible, and needs no services', async () => {
  const { exit, out } = await replay('--file', join('test/histories', SCRIPT));
  expect(out).toBe("trial gmbu3nxrxk-d42713fe57a32251, 38 events: compatible with today's workflow code\n");
  expect(exit).toBe(0);
  expect(await report(join('test/histories', SCRIPT))).toEqual({
    type: 'replay',
    workflow: 'gmbu3nxrxk-d42713fe57a32251',
    kind: 'trial',
    compatible: true,
    runs: [{ run: '01a22bf1-a12e-7549-8904-297e0445e796', events: 38, last: 'WorkflowExecutionCompleted', divergence: null }],
    saved: null,
  });
});

test('--step tells each event with the state after it', async () => {
  const { out } = await replay('--file', join('test/histories', SCRIPT), '--step');
  expect(out).toMatch(/^ {4}1 {5}\+0\.000 {2}waiting +WorkflowExecutionStarted trial \(refund-within-policy \/ reference \/ 1\)$/m);
  expect(out).toMatch(/^ {4}5 .* provision, calls 0\/30 {2}MarkerRecorded beginAttempt$/m);
  // A local activity is in the workflow task that scheduled it, and has its own place all the same.
  expect(out).toMatch(/^ {4}9 .* drive, calls 1\/30 .*\n +in flight: op-1 get_ticket\n {3}10 .*MarkerRecorded operate\n +op-1 get_ticket: committed$/m);
  expect(out).toMatch(/^ {3}16 .* drive, calls 4\/30 +ActivityTaskScheduled operate \(op-4 issue_refund\)$/m);
  expect(out).toMatch(/^ {3}18 .*ActivityTaskCompleted operate\n +op-4 issue_refund: committed$/m);
  expect(out).toMatch(/^ {3}38 .* done, calls 5\/30 +WorkflowExecutionCompleted$/m);
  const timeline = (await report(join('test/histories', SCRIPT), '--step')).runs[0]?.timeline ?? [];
  expect(timeline).toHaveLength(38);
  expect(timeline[17]).toMatchObject({
    id: 18,
    type: 'ActivityTaskCompleted',
    operations: [{ id: 'op-4', tool: 'issue_refund', state: 'committed', problem: null }],
    after: { workflow: { kind: 'trial', phase: 'drive', attempt: 1, calls: 4, inFlight: [], budget: { calls: 30, turns: 1, wallMs: 60_000 } }, models: null },
  });
});

test('--step of a trial with calls at once, of one that waits for an approval, of one with a model, of a batch that is steered and of a window', async () => {
  const names = await readdir('test/histories');
  const step = async (scenario: string) =>
    (await replay('--file', join('test/histories', names.find((name) => name.startsWith(scenario)) ?? ''), '--step')).out;
  expect(await step('parallel.2t75kcravq')).toMatch(
    /UpdateAccepted operate 1\.op-3\n +in flight: op-1 slow_read, op-5 slow_read, op-6 add_note, op-4 add_note/,
  );
  const decided = await step('decided.');
  expect(decided).toMatch(/UpdateAccepted operate 1\.op-1\n +in flight: op-1 add_note; waits for an approval: op-1 add_note/);
  expect(decided).toContain('op-2 add_note: denied (approval_refused: ');
  const model = await step('model.');
  expect(model).toMatch(
    /drive, calls 0\/30, model 0 calls 0 tokens +ActivityTaskStarted callModel\n.*drive, calls 2\/30, model 1 calls 120 tokens, 0\.0003 USD +ActivityTaskCompleted callModel/,
  );
  expect(model).toMatch(/grade, calls 2\/30, model 2 calls 240 tokens, 0\.0006 USD +ActivityTaskCompleted callModel/);
  expect(model).toMatch(/op-1 read_text: committed[\s\S]*op-2 add_note: committed/);
  const window = await step('window.');
  expect(window).toMatch(/launching, 2 of 2 in flight/);
  expect(window).toMatch(/launching, 2 of 0 in flight +WorkflowExecutionSignaled share\n[\s\S]*0 of 0 in flight +WorkflowExecutionCompleted/);
  const steered = await step('steered.');
  expect(steered).toMatch(/paused, \d of 2 in flight +WorkflowExecutionUpdateAccepted pause/);
  expect(steered).toMatch(/launching, \d of 3 in flight +WorkflowExecutionUpdateAccepted resume/);
});

test('where the code goes another way, the event is named, with what the code wanted', async () => {
  const renamed = await changed(({ events }) => {
    attributes(events[15]).activityType = { name: 'transfer' };
  });
  expect((await report(renamed)).runs[0]?.divergence).toMatchObject({
    kind: 'another_way',
    event: { id: 16, type: 'ActivityTaskScheduled', what: 'transfer' },
    wanted: 'activity operate',
  });
  const { exit, out } = await replay('--file', renamed, '--step');
  expect(exit).toBe(1);
  expect(out).toContain('diverges at event 16 ActivityTaskScheduled transfer\n  the code wanted activity operate\n');
  expect(out).toContain("not compatible with today's workflow code");
  // The state is told up to there.
  expect(out).toMatch(/^ {3}15 .* drive, calls 4\/30 +MarkerRecorded/m);
  expect(out).toMatch(/^ {3}16 .* - +ActivityTaskScheduled transfer/m);

  const ofTask = await changed(({ events }) => {
    const { details } = attributes(events[7]) as { details: { data: { payloads: { data: string }[] } } };
    const [payload] = details.data.payloads;
    if (payload)
      payload.data = Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(payload.data, 'base64').toString()), activity_type: 'another' })).toString(
        'base64',
      );
  });
  expect((await report(ofTask)).runs[0]?.divergence).toMatchObject({
    event: { id: 8, type: 'MarkerRecorded', what: 'another' },
    wanted: 'local activity setPhase',
  });

  const another = await changed(({ events }) => {
    const { workflowTaskCompletedEventId } = attributes(events[36]);
    events[36] = {
      eventId: '37',
      eventType: 'EVENT_TYPE_TIMER_STARTED',
      timerStartedEventAttributes: { timerId: '9', startToFireTimeout: '1s', workflowTaskCompletedEventId },
    };
  });
  expect((await report(another)).runs[0]?.divergence).toMatchObject({ event: { id: 37, type: 'TimerStarted', what: 'timer 9' }, wanted: 'search attributes' });
});

test('what the code throws is told with its place', async () => {
  const file = await changed(({ events }) => {
    attributes(events[0]).input = {
      payloads: [{ metadata: { encoding: Buffer.from('json/plain').toString('base64') }, data: Buffer.from('null').toString('base64') }],
    };
  });
  const { exit, out } = await replay('--file', file);
  expect(exit).toBe(1);
  expect(out).toContain('the code throws in the workflow task that begins with event 3\n');
  expect(out).toMatch(/Cannot read properties of null.*\n +at .*workflows\/trial-run\.ts:\d+/);
});

test('a history that has not come to its end is compatible so far', async () => {
  const { workflowId, events } = await saved(SCRIPT);
  const { exit, out } = await replay('--file', await written({ workflowId, events: events.slice(0, 24) }), '--step');
  expect(out).toMatch(/^ {3}24 .* drive, calls 5\/30 +ActivityTaskStarted operate$/m);
  expect(exit).toBe(0);
});

test('--save writes what replays elsewhere, by its workflow id', async () => {
  const copy = join(folder, 'copy.json');
  expect((await replay('--file', join('test/histories', SCRIPT), '--save', copy)).out).toContain(`saved to ${copy}`);
  const text = JSON.parse(await readFile(copy, 'utf8')) as Saved;
  expect(text.workflowId).toBe('gmbu3nxrxk-d42713fe57a32251');
  expect(await report(copy, '--step')).toMatchObject({ workflow: 'gmbu3nxrxk-d42713fe57a32251', compatible: true, runs: [{ events: 38 }] });
  // Another's tools give a list alone, write names in their own way, and may not know whose it is.
  const events = text.events.map((event) => ({
    ...event,
    eventType: event.eventType
      .replace('EVENT_TYPE_', '')
      .toLowerCase()
      .replace(/(^|_)\w/g, (letter) => letter.replace('_', '').toUpperCase()),
  }));
  expect(await report(await written(events))).toMatchObject({ compatible: true, workflow: 'gmbu3nxrxk-d42713fe57a32251' });
});

test('a file that is no history is refused with what was expected', async () => {
  const refused = async (content: unknown, ...args: string[]) => {
    const { exit, err } = await replay(...args, '--file', await written(content));
    expect(exit).toBe(2);
    return err;
  };
  expect(await refused('{"events": [')).toMatch(/it is no JSON \(.*\); expected a history as "trialbed replay TRIAL --save FILE" writes it/);
  expect(await refused({ rows: [] })).toMatch(/events: .*; expected a history/);
  expect(await refused({ events: [] })).toMatch(/events: .*; expected a history/);
  const { events } = await saved(SCRIPT);
  expect(await refused({ events: events.slice(3) })).toContain('its first event is EVENT_TYPE_WORKFLOW_TASK_COMPLETED, and must be the start of the workflow');
  expect(await refused({ events: events.filter(({ eventId }) => eventId !== '25') })).toContain('event 25 is missing: event 26 stands in its place');
  expect(await refused({ events: [{ eventId: '1', eventType: 'EVENT_TYPE_WORKFLOW_EXECUTION_STARTED' }] })).toContain('its events are not those of Temporal');
  expect(await refused({ events }, 'another-trial')).toContain('it is the history of gmbu3nxrxk-d42713fe57a32251, and not of another-trial');
  const nobodys = structuredClone(events);
  attributes(nobodys[0]).workflowId = '';
  expect(await refused({ events: nobodys })).toContain('it does not say whose history it is');
  expect((await replay('--file', resolve(folder, 'none.json'))).err).toMatch(/none\.json: it could not be read: ENOENT/);
  expect((await replay()).err).toContain('replay needs the id of a trial, or a file');
});
