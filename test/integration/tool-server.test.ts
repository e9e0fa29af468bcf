import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { pin } from '../../src/client/pin.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { TrialRecord } from '../../src/domain/record.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { startMark } from '../../src/infra/process.ts';
import { until } from '../chaos/until.ts';
import { writeOneCaseSuite } from '../harness/one-case-suite.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';

let testbed: Testbed;
let folder: string;
beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  folder = await mkdtemp(join(tmpdir(), 'trialbed-served-'));
});
afterAll(async () => {
  await testbed[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const NO_STATE = { clock: '2026-03-02T09:30:00+01:00', timezone: 'Europe/Berlin', state: [] };

interface Dispatched {
  readonly id: string;
  readonly attempt: number;
}

const pack = (options: JsonObject = {}): JsonObject => ({ use: resolve('test/fixtures/packs/served/pack.ts'), with: options });
const act = (how: string, body: string, more: JsonObject = {}): JsonObject => ({ call: 'act', with: { how, body }, ...more });
const script = (steps: readonly JsonObject[]): JsonObject => ({ kind: 'script', steps: [...steps], answer: 'Done.' });

interface Played {
  readonly trial: TrialSummary;
  readonly record: TrialRecord;
}

async function play(name: string, agent: JsonObject, options: JsonObject = {}, faults: readonly JsonObject[] = [], kase: JsonObject = {}): Promise<Played> {
  const suite = await writeOneCaseSuite(folder, name, {
    environment: pack(options),
    agent,
    kase,
    ...(faults.length > 0 && { faults: { wrong: { faults: [...faults] } } }),
  });
  const { trials } = await testbed.run({ ...suite, faults: [faults.length > 0 ? 'wrong' : 'none'], keep: 'never' });
  const [trial] = trials;
  const record = trial && (await testbed.root.store.record(trial.trial, trial.attempt));
  if (!trial || !record) throw new Error(`the trial has no record: ${JSON.stringify(trial)}`);
  return { trial, record };
}

const told = ({ operations }: TrialRecord) => operations.map(({ told: state, known, problem }) => [state, known, problem?.code ?? null]);
const notes = ({ effects }: TrialRecord) =>
  effects.flatMap((effect) => (effect.kind === 'row' && effect.table === 'notes' ? [[effect.after?.['body'], effect.operation]] : []));

describe('a tool server', () => {
  it('of the example passes its case: rows and mail are those of the calls, and nothing else is there', async () => {
    const { trials } = await testbed.run({ suite: resolve('examples/own-tools/suite'), keep: 'never' });
    expect(trials).toMatchObject([{ ending: 'completed', pass: 'pass', attempt: 1, disturbed: false }]);
    const record = await testbed.root.store.record(trials[0]?.trial ?? '', 1);
    expect(record?.effects.map((effect) => [effect.kind === 'row' ? effect.table : 'mail', effect.operation])).toEqual([
      ['items', 'op-2'],
      ['reservations', 'op-2'],
      ['mail', 'op-3'],
    ]);
    expect(record?.operations.map(({ result }) => result)).toEqual([
      { items: [{ sku: 'S-01', name: 'Storm stove', in_stock: 7 }] },
      { reservation: 1 },
      { sent_to: 'bo@birch.example' },
    ]);
  });

  it("acts through mail and tickets as the operation that it serves; what it does between calls is nobody's", async () => {
    const steps = [{ call: 'send', with: { to: 'one@example.org' } }, act('late', 'a'), act('', 'b'), ...Array(4).fill(act('slow', 'time passes'))];
    const { trial, record } = await play('services', script(steps));
    expect(trial).toMatchObject({ ending: 'completed', disturbed: false });
    const [mail, ticket] = record.effects;
    expect(mail).toMatchObject({ kind: 'mail', accepted: true, operation: 'op-1' });
    expect(ticket).toMatchObject({ kind: 'row', table: 'tickets', operation: 'op-1' });
    expect(notes(record).slice(0, 1)).toEqual([['a', 'op-2']]);
    expect(record.operations[0]?.result).toBe('ticket 201');
  });

  it('serves parallel calls one after another, each with its own effects', async () => {
    const agent = { kind: 'module', file: resolve('test/fixtures/agents/at-once.ts'), parameters: { calls: 6 } };
    const { trial, record } = await play('parallel', agent);
    expect(trial).toMatchObject({ ending: 'completed', calls: 6, disturbed: false });
    const byOperation = Map.groupBy(notes(record), ([, operation]) => operation);
    expect(byOperation.size).toBe(6);
    for (const { id, args } of record.operations) {
      const body = String((args as JsonObject)['body']);
      expect(byOperation.get(id)?.map(([text]) => text)).toEqual([`${body} begins`, body]);
    }
  });

  it('refuses by an error result; what it did nevertheless is known', async () => {
    const { record } = await play('refusals', script([act('refuse', 'x'), act('refuse oddly', 'y'), act('throw', 'z')]));
    expect(told(record)).toEqual([
      ['failed', 'failed', 'declared'],
      ['failed', 'committed', 'tool_error'],
      ['failed', 'failed', 'tool_error'],
    ]);
    expect(notes(record)).toEqual([['y all the same', 'op-2']]);
  });

  it('is bound by permissions, pinned schemas, keys and the faults of a schedule like any other tool', async () => {
    const denied = await play('denied', script([{ call: 'look' }, act('', 'x')]), {}, [], { user: { role: 'reader' } });
    expect(told(denied.record)).toEqual([
      ['committed', 'committed', null],
      ['denied', 'failed', 'not_permitted'],
    ]);
    const steps = [
      { call: 'act', with: { how: '' }, invalid: true },
      act('', 'lost reply'),
      act('', 'twice'),
      { call: 'keyed', with: {}, key: 'k-1' },
      { call: 'keyed', with: {}, key: 'k-1' },
    ];
    const { record } = await play('bound', script(steps), {}, [
      { on: 'act', call: 1, fault: 'timeout_after_commit' },
      { on: 'act', call: 2, fault: 'duplicate_delivery' },
    ]);
    expect(told(record)).toEqual([
      ['rejected', 'failed', 'invalid_args'],
      ['unknown', 'committed', 'timeout'],
      ['committed', 'committed', null],
      ['committed', 'committed', null],
      ['committed', 'committed', null],
    ]);
    expect(notes(record)).toEqual([
      ['lost reply', 'op-2'],
      ['twice', 'op-3'],
      ['twice', 'op-3'],
    ]);
    expect(record.operations.map(({ result, replayOf }) => [result, replayOf]).slice(3)).toEqual([
      ['the key is k-1', null],
      ['the key is k-1', 'op-4'],
    ]);
  });
});

describe('a tool server that is lost during a call', () => {
  it('gets it once more where nothing was done, also in a transaction that it left open; its processes are gone with the world', async () => {
    const file = join(folder, 'lost');
    const { trial, record } = await play('lost', script([act('die before, once', 'a'), act('die in a transaction, once', 'b')]), { file });
    expect(trial).toMatchObject({ ending: 'completed', attempt: 1, disturbed: true });
    expect(told(record)).toEqual(Array(2).fill(['committed', 'committed', null]));
    expect(notes(record)).toEqual([
      ['a', 'op-1'],
      ['b', 'op-2'],
    ]);
    const pids = (await readFile(`${file}.pids`, 'utf8')).trim().split('\n').map(Number);
    // Of the check before the batch, and three of the trial.
    expect(pids).toHaveLength(8);
    for (const pid of pids) await until(`process ${pid} has ended`, async () => (await startMark(pid)) === null);
  });

  it('after it had written ends the attempt, and the next one begins in a new world', async () => {
    const { trial, record } = await play('written', script([act('die after, once', 'a')]), { file: join(folder, 'written') });
    expect(trial).toMatchObject({ ending: 'completed', attempt: 2 });
    expect(notes(record)).toEqual([['a', 'op-1']]);
    expect(await testbed.root.store.attempts(trial.trial)).toMatchObject([
      { ending: 'infra_error', problem: { message: expect.stringContaining('the reply of op-1 (act) was lost') } },
      { ending: 'completed', counts: true },
    ]);
  });

  it.each([
    ['die', 'it exited with status 9'],
    ['hang', 'it has not answered within 0.5 s'],
    ['chatter', '"debug: about to write"'],
  ])('again and again (%s) is no result of the agent, and operators are told why', async (how, why) => {
    const environment = pack({ tools: { act: { effect: 'write', timeoutMs: 500 } } });
    const suite = await writeOneCaseSuite(folder, `always-${how}`, { environment, agent: script([act(how, 'a')]) });
    const { trials } = await testbed.run({ ...suite, keep: 'never' });
    expect(trials).toMatchObject([{ ending: 'infra_error', pass: null, attempt: 3 }]);
    const [attempt] = await testbed.root.store.attempts(trials[0]?.trial ?? '');
    expect(attempt?.problem).toMatchObject({
      message: expect.stringContaining('op-1 (act) was lost again and again before it had its effect'),
    });
    expect(attempt?.problem?.message).toContain(why);
  });

  it('by a worker that finds out late: what the next one has under way goes on', async () => {
    const { root } = testbed;
    const environment = await root.loadEnvironment({ file: resolve('test/fixtures/packs/served/pack.ts'), options: {} });
    const lease = { owner: 'late-worker-1.1', workflowId: null, isolation: 'database' as const, leaseMs: 60_000, kase: NO_STATE };
    const world = await root.worlds.open(await root.worlds.provision(environment, lease));
    await using stack = new AsyncDisposableStack();
    stack.defer(async () => void (await world.release()));
    const [lost, next, last] = [1, 2, 3].map((attempt) => ({ id: 'op-1', attempt })) as [Dispatched, Dispatched, Dispatched];
    await world.ledger.propose({ id: 'op-1', tool: 'act', args: {}, idempotencyKey: null, refusal: null });
    const session = async () => {
      const client = new pg.Client({ connectionString: (await world.credentials()).server?.sqlUrl });
      client.on('error', () => undefined);
      await client.connect();
      stack.defer(() => client.end().catch(() => undefined));
      return client;
    };
    expect(await world.serve(lost)).toBe(true);
    const [ofLost, idle] = [await session(), await session()];
    await ofLost.query('BEGIN');
    await world.ledger.recover('op-1', 1);
    // What the lost one began is not the next one's to end.
    expect(await world.serve(next)).toBe(true);
    await expect(ofLost.query("INSERT INTO notes (body) VALUES ('of the lost one')")).rejects.toThrow();
    const ofNext = await session();
    await ofNext.query("BEGIN; INSERT INTO notes (body) VALUES ('of the next one')");
    expect(await world.loseServing(lost)).toBe(false);
    await ofNext.query('COMMIT');
    await ofNext.query('BEGIN');
    expect(await world.loseServing(next)).toBe(true);
    await expect(ofNext.query('SELECT 1')).rejects.toThrow();
    // Who has nothing under way has nothing that could be lost.
    await idle.query('SELECT 1');
    await world.ledger.recover('op-1', 2);
    expect(await world.serve(last)).toBe(true);
    const { effects } = await world.observe();
    expect(effects).toMatchObject([{ table: 'notes', operation: 'op-1', after: { body: 'of the next one' } }]);
  });
});

describe('before a batch begins', () => {
  const refused = async (name: string, options: JsonObject): Promise<string> => {
    const suite = await writeOneCaseSuite(folder, name, { environment: pack(options), agent: script([]) });
    const error: unknown = await testbed.run({ ...suite, keep: 'never' }).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    return error instanceof Error ? error.message : 'it ran';
  };

  it('a server that is not the pinned one is refused with each difference', async () => {
    const pinned = JSON.parse(await readFile('test/fixtures/packs/served/tools.json', 'utf8')) as { tools: { name: string; inputSchema: JsonObject }[] };
    const [tool] = pinned.tools.filter(({ name }) => name === 'act');
    Object.assign(tool?.inputSchema ?? {}, { required: ['body'] });
    await writeFile(join(folder, 'drift.json'), JSON.stringify(pinned));
    expect(await refused('drift', { pinned: `file://${join(folder, 'drift.json')}` })).toMatch(
      /is not the pinned one: the schema of the arguments of act is another than the pinned one \(at required\).*trialbed pin SUITE/,
    );
  });

  it('one that cannot be used is told of, without its secrets; a flood on standard error harms nobody', async () => {
    expect(await refused('exits', { args: ['exits'] })).toMatch(
      /cannot be used: it exited with status 3; it printed: cannot use postgres(ql)?:\/\/\S+:\[secret\]@/,
    );
    expect(await refused('chatters', { args: ['chatters'] })).toMatch(/no message of MCP on its standard output: "listening on stdio"/);
    expect(await refused('sleeps', { args: ['sleeps'], startSeconds: 1 })).toMatch(/has not told its tools within 1 s/);
    expect(await refused('floods', { args: ['floods'] })).toBe('it ran');
  });

  it('tools that nobody declared, or that nobody has, are told with the nearest name', async () => {
    const message = await refused('undeclared', { tools: { lok: { effect: 'read' } } });
    expect(message).toMatch(/toolServer.tools declares lok, which the pinned file does not have \(did you mean "look"\?\)/);
    expect(await refused('unpinned', { pinned: './nowhere.json' })).toMatch(/nowhere.json, which is not there; `trialbed pin SUITE` writes it/);
  });

  it('what a server says is written down for review', async () => {
    const file = join(folder, 'new.json');
    const { suite } = await writeOneCaseSuite(folder, 'pin', {
      environment: pack({ pinned: `file://${file}`, tools: { look: 'left_out' } }),
      agent: script([]),
    });
    const first = await pin(testbed.root, suite);
    expect(first).toMatchObject({ file, changes: [], problems: [] });
    expect([...first.tools].sort()).toEqual(['act', 'keyed', 'look', 'send']);
    expect(await readFile(file, 'utf8')).toBe(await readFile('test/fixtures/packs/served/tools.json', 'utf8'));
  });
});
