import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Json, JsonObject } from '../../src/domain/json.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { timelineLines } from '../../src/cli/trial-timeline.ts';
import { trialbedOver, writeBatchReport } from '../../src/client/index.ts';
import { startMark } from '../../src/infra/process.ts';
import { MAX_TASKS, processHold } from '../../src/processes/control-group.ts';
import { until } from '../chaos/until.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { skipTitle } from '../harness/requirements.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { acting, type Blobs, blobs } from './core-trials.ts';

const hold = await processHold();
const NO_GROUPS = 'no control group that does it can be made here';

let testbed: Testbed;
let suites: Blobs;
let folder: string;
beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  suites = await blobs(testbed, 'gateway');
  folder = await mkdtemp(join(tmpdir(), 'trialbed-gateway-'));
});
afterAll(async () => {
  await suites[Symbol.asyncDispose]();
  await testbed[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const rogue = (args: readonly string[], more: JsonObject = {}): JsonObject => ({
  kind: 'command',
  folder: resolve('test/fixtures/agents/programs'),
  program: 'python3',
  args: ['rogue.py', ...args],
  ...more,
});
const answerOf = async (trial: TrialSummary): Promise<Json> => JSON.parse((await suites.record(trial)).messages.at(-1)?.text ?? 'null') as Json;

describe('calls through the gateway', () => {
  it('twenty at once are all carried out, in order, each once', async () => {
    const trial = await suites.run(rogue(['parallel', '20']));
    expect(trial).toMatchObject({ ending: 'completed', calls: 20 });
    expect(await answerOf(trial)).toEqual(Array(20).fill([200, 'committed', null]));
    const { operations, effects } = await suites.record(trial);
    expect(operations.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, n) => `op-${n + 1}`));
    expect(new Set(effects.map((effect) => ('after' in effect ? effect.after?.['body'] : null))).size).toBe(20);
  });

  it('beyond the budget none is sent, those within it come to their end', async () => {
    const trial = await suites.run(rogue(['parallel', '12']), { budget: { calls: 10 } });
    expect(trial).toMatchObject({ ending: 'budget_exhausted', calls: 10 });
    const { operations, effects, problem } = await suites.record(trial);
    expect(operations.map(({ told }) => told)).toEqual(Array(10).fill('committed'));
    expect(effects).toHaveLength(10);
    expect(problem?.code).toBe('budget_exhausted');
  });

  it('far beyond the budget and beyond what waits are refused, told by number, and end the trial', async () => {
    const trial = await suites.run(rogue(['storm', '2100']), { budget: { calls: 20 } });
    expect(trial).toMatchObject({ ending: 'budget_exhausted', calls: 20 });
    const { operations, beyondBudget } = await suites.record(trial);
    expect(operations).toHaveLength(20);
    expect(beyondBudget).toBeGreaterThan(0);
  });

  it('are told from what is no call, of which a thousand are borne', async () => {
    const trial = await suites.run(rogue(['litters']));
    expect(trial).toMatchObject({ ending: 'budget_exhausted', calls: 0 });
    expect((await suites.record(trial)).problem?.code).toBe('too_many_requests');
  });

  it('with one call id are one call, whatever the tool takes', async () => {
    const trial = await suites.run(rogue(['names']));
    expect(await answerOf(trial)).toEqual([
      ...Array(3).fill([200, 'op-1', 'committed']),
      [200, 'op-2', 'committed'],
      [200, 'op-2', 'committed'],
      [422, null, 'rejected'],
      [400, null, 'rejected'],
      [422, 'op-3', 'rejected'],
      [422, 'op-3', 'rejected'],
    ]);
    expect(trial).toMatchObject({ ending: 'completed', calls: 3 });
    expect((await suites.record(trial)).effects).toHaveLength(1);
  });

  it('have a status that fits what became of them, and a body of one form', async () => {
    const trial = await suites.run(rogue(['bodies']));
    expect(await answerOf(trial)).toEqual([
      [413, 'rejected', 'payload_too_large'],
      [413, 'rejected', 'payload_too_large'],
      [400, 'rejected', 'invalid_json'],
      [400, 'rejected', 'invalid_json'],
      [422, 'rejected', 'invalid_args'],
      [422, 'rejected', 'invalid_args'],
      [422, 'rejected', 'invalid_args'],
      [404, 'rejected', 'not_found'],
      [404, 'rejected', 'unknown_tool'],
      [405, 'rejected', 'method_not_allowed'],
      [403, 'rejected', 'wrong_host'],
      [403, 'rejected', 'wrong_host'],
    ]);
    // What never was a call is none.
    expect(trial).toMatchObject({ ending: 'completed', calls: 5 });
  });

  it('that a tool refused, that may have had an effect, and that ended well are told apart by it', async () => {
    const trial = await suites.run(rogue(['ends']));
    expect(await answerOf(trial)).toEqual([
      [409, 'failed', 'refused'],
      [409, 'failed', 'budget_exhausted'],
      [504, 'unknown', 'internal_error'],
      [200, 'committed', null],
    ]);
    expect(trial).toMatchObject({ ending: 'completed', calls: 4 });
  });

  it('wait in order where too many come at once, and are refused where too many wait', async () => {
    const trial = await suites.run(rogue(['crowds', '90']), { budget: { calls: 200 } });
    const [done = 0, refused = 0] = (await answerOf(trial)) as number[];
    expect(done + refused).toBe(90);
    expect(done).toBeGreaterThanOrEqual(72);
    expect(refused).toBeGreaterThan(0);
    expect(trial).toMatchObject({ ending: 'completed', calls: done });
  });

  it('with one idempotency key are one operation, wherever the key stands', async () => {
    const trial = await suites.run(rogue(['keys']));
    expect(await answerOf(trial)).toEqual([
      [200, 'op-1', 'committed'],
      [200, 'op-1', 'committed'],
      [422, 'op-3', 'rejected'],
    ]);
    expect((await suites.record(trial)).effects).toHaveLength(1);
  });

  it('of a client that vanishes are carried out where they came whole', async () => {
    const trial = await suites.run(rogue(['vanishes']));
    expect(trial).toMatchObject({ ending: 'completed', calls: 1 });
    const { operations, effects } = await suites.record(trial);
    expect(operations).toMatchObject([{ args: { body: 'whole' }, told: 'committed', known: 'committed' }]);
    expect(effects).toHaveLength(1);
  });

  it('are told of and permitted as the case says', async () => {
    const agent = rogue(['lists']);
    const user = { name: 'mara', role: 'agent', tools: ['get_order', 'send_mail'] };
    const { trials } = await testbed.run({
      ...(await writeOneCaseSuite(folder, 'lists', { environment: 'support-desk', agent, kase: { user } })),
      keep: 'never',
    });
    const [tools, paths, denied] = (await answerOf(trials[0] as TrialSummary)) as [string[], string[], Json];
    expect(tools).toEqual(expect.arrayContaining(['get_order', 'send_mail']));
    expect(tools).not.toContain('issue_refund');
    expect(paths).toEqual(tools.map((tool) => `/tools/${tool}`));
    expect(denied).toEqual([403, 'denied', 'not_permitted']);
    expect(trials).toMatchObject([{ calls: 1 }]);
  });
});

describe('a token', () => {
  it('that is none opens nothing', async () => {
    const trial = await suites.run(rogue(['tokens']));
    expect(await answerOf(trial)).toEqual(Array(7).fill([401, 'rejected', 'unauthorized']));
    expect(trial).toMatchObject({ ending: 'completed', calls: 0 });
  });

  it('of another trial acts in that one alone, and in none once that has ended', async () => {
    const file = join(folder, 'token');
    const [lender, borrower] = await Promise.all([suites.run(rogue(['lends', file])), suites.run(rogue(['borrows', file]))]);
    expect(await answerOf(borrower)).toEqual([200, 'committed', null]);
    expect([lender, borrower]).toMatchObject([{ calls: 1 }, { calls: 0 }]);
    expect((await suites.record(borrower)).effects).toEqual([]);
    const next = await suites.run(rogue(['borrows', file]));
    expect(await answerOf(next)).toEqual([401, 'rejected', 'token_ended']);
    expect(next).toMatchObject({ calls: 0 });
    // The lender's record was made long before.
    expect(await testbed.root.store.lateRequests(lender.trial, 1)).toMatchObject([{ detail: expect.stringContaining('POST /tools/add_note') }]);
  });

  it('ends with its agent: what comes later is refused and stands in the record as late', async () => {
    const file = join(folder, 'late');
    const running = suites.run(rogue(['late', file]));
    const given = await until('the token was given away', async () => JSON.parse(await readFile(file, 'utf8')) as { gateway: string; token: string });
    const ask = (path: string, init: RequestInit) => fetch(`${given.gateway}${path}`, { ...init, headers: { authorization: `Bearer ${given.token}` } });
    while ((await ask('/tools', {})).ok) await new Promise((resolve) => setTimeout(resolve, 50));
    const late = await ask('/tools/add_note', { method: 'POST', body: '{"body":"late"}' });
    expect([late.status, await late.json()]).toMatchObject([401, { state: 'rejected', problem: { code: 'token_ended' } }]);
    const trial = await running;
    expect(trial).toMatchObject({ ending: 'agent_error', calls: 1 });
    const { lateAttempts, operations } = await suites.record(trial);
    expect(operations.map(({ tool }) => tool)).toEqual(['wait']);
    expect(lateAttempts).toEqual(
      expect.arrayContaining([expect.objectContaining({ source: 'door', detail: expect.stringContaining('POST /tools/add_note') })]),
    );
  });
});

describe('a program', () => {
  it('that ignores SIGTERM is gone after its time', async () => {
    const file = join(folder, 'pid');
    const trial = await suites.run(rogue(['ignores_sigterm', file]), { budget: { wall: '2s' } });
    expect(trial).toMatchObject({ ending: 'agent_timeout', attempt: 1 });
    expect(await startMark(Number(await readFile(file, 'utf8')))).toBeNull();
  });

  it('is gone when its trial is cancelled', async () => {
    const file = join(folder, 'cancelled');
    const running = suites.run(rogue(['ignores_sigterm', file]), { budget: { wall: '60s' } });
    const pid = await until('the program acts', async () => Number(await readFile(file, 'utf8')));
    await testbed.root.temporal.workflow.getHandle(await acting(testbed.root, 0)).cancel();
    const trial = await running;
    expect(trial).toMatchObject({ ending: 'cancelled', pass: null });
    expect(await startMark(pid)).toBeNull();
    expect(await testbed.root.worlds.leased(`${trial.batch}-`)).toBe(0);
  });

  it.each([
    ['prints without end', ['floods', 'stdout'], 'agent_error', 'printed more than 1000000 bytes'],
    ['complains without end', ['floods', 'stderr'], 'agent_timeout', 'used up'],
    ['exits with status 1', ['exits'], 'agent_error', 'exited with status 1. It printed: my mind is lost'],
  ] as const)('that %s', async (_, args, ending, words) => {
    const trial = await suites.run(rogue(args), { budget: { wall: args[0] === 'floods' ? '4s' : '60s' } });
    expect(trial).toMatchObject({ ending, attempt: 1 });
    expect((await suites.record(trial)).problem?.message).toContain(words);
  });

  it('need not read what it is sent', async () => {
    const trial = await suites.run(rogue(['never_reads'], { parameters: { much: 'x'.repeat(500_000) } }));
    expect(trial).toMatchObject({ ending: 'completed', pass: 'pass' });
    expect((await suites.record(trial)).messages.at(-1)?.text).toBe('I asked nobody.');
  });

  it('leaves nothing behind, not even what holds its output open', async () => {
    const trial = await suites.run(rogue(['holds_output']));
    expect(trial).toMatchObject({ ending: 'completed' });
    expect(await startMark(Number(await answerOf(trial)))).toBeNull();
  });

  it('takes what left its process group with it, however many', async () => {
    const file = join(folder, 'escaped');
    const trial = await suites.run(rogue(['escapes', file]), { budget: { wall: '4s' } });
    expect(trial).toMatchObject({ ending: 'agent_timeout', attempt: 1 });
    const pids = (await readFile(file, 'utf8')).trim().split('\n').map(Number);
    expect(pids).toHaveLength(64);
    expect(await Promise.all(pids.map((pid) => startMark(pid)))).toEqual(Array(64).fill(null));
  });

  it.skipIf(!hold.ends)(skipTitle('takes with it what has another session and another environment', { met: hold.ends, reason: NO_GROUPS }), async () => {
    const file = join(folder, 'disguised');
    expect(await suites.run(rogue(['disguises', file]))).toMatchObject({ ending: 'completed' });
    expect(await startMark(Number(await readFile(file, 'utf8')))).toBeNull();
  });

  it.skipIf(!hold.bounds)(skipTitle('is stopped where it multiplies without end, also for root', { met: hold.bounds, reason: NO_GROUPS }), async () => {
    const count = Number(await answerOf(await suites.run(rogue(['multiplies']))));
    expect(count).toBeGreaterThan(10);
    expect(count).toBeLessThan(MAX_TASKS);
  });

  it('has a bound on processes', async () => {
    const limits = (await answerOf(await suites.run(rogue(['bounds'])))) as number[];
    // -1 is none.
    for (const limit of limits) expect([limit > 0, limit <= 8192]).toEqual([true, true]);
  });

  it('that closes its output early has said nothing, and what it did counts', async () => {
    const trial = await suites.run(rogue(['closes_stdout']));
    expect(trial).toMatchObject({ ending: 'completed', calls: 1 });
    const { messages, effects } = await suites.record(trial);
    expect(messages.at(-1)).toMatchObject({ from: 'agent', text: '' });
    expect(effects).toHaveLength(1);
  });

  it('that echoes terminal escapes and HTML reaches neither the terminal nor the report with them', async () => {
    const trial = await suites.run(rogue(['echoes']));
    expect(trial).toMatchObject({ ending: 'completed', calls: 3 });
    expect((await suites.record(trial)).effects).toMatchObject([{ after: { body: expect.stringContaining('\u001b]0;owned\u0007') } }]);
    // Not disposed of: the root is everybody's.
    const bed = trialbedOver(testbed.root, async () => {});
    const shown = timelineLines(await bed.show(trial.trial), 120, (_, text) => text).join('\n');
    await writeBatchReport(bed, { batch: trial.batch, folder: join(folder, 'report') });
    const report = await readFile(join(folder, 'report', 'report.md'), 'utf8');
    expect(shown).toContain('owned');
    expect(shown).not.toMatch(/[\u001b\u0007\u202e]/);
    expect(report).not.toMatch(/[\u001b\u0007\u202e]/);
    // In a block of code it is text.
    expect(report.replaceAll(/```[\s\S]*?```/g, '')).not.toMatch(/<script|<b>/);
  });

  it('sees of our environment PATH and what its file names', async () => {
    process.env.TRIALBED_TEST_NAMED = 'yes';
    const names = (await answerOf(await suites.run(rogue(['environment'], { env: ['TRIALBED_TEST_NAMED'] })))) as string[];
    // Variables that a shell or the interpreter sets by itself are none of ours.
    const ours = names.filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_', 'LC_CTYPE'].includes(name) && !name.startsWith('PYENV'));
    expect(ours).toEqual(expect.arrayContaining(['PATH', 'TRIALBED_GATEWAY', 'TRIALBED_TEST_NAMED', 'TRIALBED_TOKEN']));
    expect(ours.filter((name) => name in process.env)).toEqual(['PATH', 'TRIALBED_TEST_NAMED']);
  });

  it('runs once for each message of the user, with the conversation so far', async () => {
    const agent = rogue(['turns'], { output: 'json', parameters: { loud: true } });
    const trial = await suites.run(agent, { request: undefined as never, turns: ['first', 'second'] });
    expect((await suites.record(trial)).messages.map(({ from, text, data }) => [from, text, data])).toEqual([
      ['user', 'first', null],
      ['agent', 'user: first', { turn: 1, loud: true }],
      ['user', 'second', null],
      ['agent', 'user: first / agent: user: first / user: second', { turn: 2, loud: true }],
    ]);
  });

  it.each([
    ['no JSON', 'Done.', 'no JSON'],
    ['another form', '{"answer": "Done."}', 'no answer of the form'],
    ['a text that cannot be stored', '{"text": "a\\u0000b"}', null],
  ])('that promises JSON and prints %s', async (_, text, words) => {
    const trial = await suites.run(rogue(['prints', text], { output: 'json' }));
    expect(trial).toMatchObject({ ending: words === null ? 'completed' : 'agent_error', attempt: 1 });
    if (words !== null) expect((await suites.record(trial)).problem?.message).toContain(words);
  });

  it('that this machine does not have is no result, and is not tried again', async () => {
    const trial = await suites.run({ ...rogue([]), program: 'no-such-program-anywhere' });
    expect(trial).toMatchObject({ ending: 'infra_error', pass: null, attempt: 1 });
    expect(trial.why).toContain('there is no program no-such-program-anywhere in PATH');
  });
});
