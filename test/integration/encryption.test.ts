import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { trialbedOver } from '../../src/client/index.ts';
import { KeyRing, newKey } from '../../src/keys/key-ring.ts';
import { loadBundle } from '../../src/worker/bundle.ts';
import type { Config } from '../../src/worker/config.ts';
import { dataConverterFor } from '../../src/worker/data-converter.ts';
import { createRoot } from '../../src/worker/root.ts';
import { SEALED_COLUMNS } from '../../src/store/sealed-columns.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { blobs } from './core-trials.ts';
import { heldModel } from './held-model.ts';

const first = newKey('first');
const second = newKey('second');

let testbed: Testbed;
let sql: pg.Client;
/** Trial ids: one that fails and one with an approval, in clear; the same under a key. */
let plain: readonly string[];
let sealed: readonly string[];

const CASES = ['refund-within-policy', 'refund-approval-granted'];

beforeAll(async () => {
  testbed = await startTestbed(inject('services'));
  plain = await ran(testbed);
  // The same store, by a worker that has a key now.
  await using keyed = await startTestbed(inject('services'), { config: { ...sameStore(), keys: [first], taskQueue: `${testbed.config.taskQueue}-keyed` } });
  sealed = await ran(keyed);
  sql = new pg.Client({ connectionString: testbed.config.store.url });
  await sql.connect();
}, 120_000);

/** Stores whose keys a test changes. */
const rotated = new AsyncDisposableStack();

afterAll(async () => {
  await rotated.disposeAsync();
  await sql?.end();
  await testbed?.[Symbol.asyncDispose]();
});

function sameStore(): Partial<Config> {
  const { store, worldHosts, home } = testbed.config;
  return { store, worldHosts, home };
}

async function ran(over: Testbed): Promise<readonly string[]> {
  const { trials } = await over.run({ suite: 'support-desk', agents: ['hasty'], cases: CASES, keep: 'always', seed: 'encryption' });
  expect(trials).toHaveLength(CASES.length);
  return trials.toSorted((a, b) => a.case.localeCompare(b.case)).map(({ trial }) => trial);
}

/** Everything that the store holds of a trial, as bytes of text. */
async function stored(trial: string): Promise<string> {
  const parts: string[] = [];
  for (const table of Object.keys(SEALED_COLUMNS))
    parts.push(JSON.stringify((await sql.query(`select * from trialbed.${table} where trial = $1`, [trial])).rows));
  return parts.join('\n');
}

async function history(trial: string): Promise<string> {
  const { temporal } = testbed.root;
  return historyToJSON(await temporal.workflow.getHandle(trial).fetchHistory());
}

function payloadsIn(value: unknown): { readonly encoding: string; readonly text: string }[] {
  if (typeof value !== 'object' || value === null) return [];
  const { metadata, data } = value as { readonly metadata?: { readonly encoding?: string }; readonly data?: string };
  const decoded = (text: string) => Buffer.from(text, 'base64').toString();
  if (metadata?.encoding !== undefined) return [{ encoding: decoded(metadata.encoding), text: decoded(data ?? '') }];
  return Object.values(value).flatMap(payloadsIn);
}

/** What was said, done and found, word for word. */
async function words(over: Pick<Testbed, 'root'>, trial: string): Promise<readonly string[]> {
  const view = await trialbedOver(over.root, async () => {}).show(trial);
  const mails = view.record?.effects.flatMap((effect) => (effect.kind === 'mail' ? [effect.text.trim().slice(0, 40)] : [])) ?? [];
  const found = view.verdicts.flatMap(({ outcome, effects }) => [...outcome.findings, ...effects.findings].map(({ message }) => message));
  return [...view.messages.map(({ text }) => text.slice(0, 40)), ...mails, ...found, ...(view.trial.summary?.why ? [view.trial.summary.why] : [])].map((text) =>
    JSON.stringify(text).slice(1, -1),
  );
}

const keyed = (keys: Config['keys']): Promise<Testbed['root']> => createRoot({ ...testbed.config, keys, logLevel: 'silent' });

test('with a key neither the store nor a history has what was said, done or found in clear', async () => {
  await using root = await keyed([first]);
  for (const [index, trial] of sealed.entries()) {
    const said = await words({ root }, trial);
    expect(said.length).toBeGreaterThan(2);
    const [kept, before] = [await stored(trial), await stored(plain[index] ?? '')];
    for (const text of said) {
      expect(kept).not.toContain(text);
      // The search finds what it looks for where there was no key.
      expect(before).toContain(text);
    }
    const events = await history(trial);
    // In clear are search attributes, which are names of batch, case and agent, and what the SDK itself notes of a local activity.
    const clear = payloadsIn(JSON.parse(events)).flatMap(({ encoding, text }) => (encoding === 'binary/encrypted' ? [] : [text]));
    expect(clear.filter((text) => !/^"[^" ]*"$|^\{"seq":/.test(text))).toEqual([]);
    expect(payloadsIn(JSON.parse(events)).length).toBeGreaterThan(clear.length + 4);
    for (const message of events.match(/"message":"[^"]+"/g) ?? []) expect(message).toBe('"message":"Encoded failure"');
  }
});

test('a history replays with its key, and one of before it with and without a key; without its key it says so', async () => {
  const replay = async (trial: string, keys: Config['keys'], options: { sealed?: boolean } = {}) => {
    const workflowBundle = await loadBundle(testbed.config.home, options);
    await Worker.runReplayHistory(
      { workflowBundle, dataConverter: dataConverterFor(new KeyRing(keys)) },
      historyFromJSON(JSON.parse(await history(trial))),
      trial,
    );
  };
  const [trial = '', before = ''] = [sealed[0], plain[0]];
  await replay(trial, [first], { sealed: true });
  await replay(trial, [second, first]);
  await replay(before, []);
  await replay(before, [first], { sealed: true });
  await expect(replay(trial, [])).rejects.toThrow();
});

test('a missing and a wrong key are told before anything is done, and nothing is lost', async () => {
  const [trial = ''] = sealed;
  const before = await stored(trial);
  await expect(keyed([])).rejects.toMatchObject({ code: 'key_missing', key: 'first' });
  await expect(keyed([])).rejects.toThrow('TRIALBED_KEYS is not set; nothing was changed');
  await expect(keyed([second])).rejects.toMatchObject({ code: 'key_missing', key: 'first' });
  await expect(keyed([newKey('first')])).rejects.toMatchObject({ code: 'key_wrong', key: 'first' });
  expect(await stored(trial)).toBe(before);
  await using root = await keyed([first]);
  expect(await words({ root }, trial)).not.toHaveLength(0);
});

test('a rotated key reads the old, and rotation leaves nothing under another one', async () => {
  const all = [...plain, ...sealed];
  await using before = await keyed([first]);
  const said = await Promise.all(all.map((trial) => words({ root: before }, trial)));
  const snapshot = await before.store.snapshot(`${sealed[0]}.1`);
  await using root = await keyed([second, first]);
  expect(await Promise.all(all.map((trial) => words({ root }, trial)))).toEqual(said);
  const uses = await root.store.keys();
  expect(uses.map(({ key, current }) => [key, current])).toEqual([
    ['second', true],
    ['first', false],
    [null, false],
  ]);
  const steps: number[] = [];
  const { changed, left } = await root.store.rotateKeys({ batch: 2, onProgress: (done) => steps.push(done) });
  expect({ left }).toEqual({ left: 0 });
  expect(changed).toBeGreaterThan(10);
  // In steps of no more than was asked for.
  expect(Math.max(...steps.map((done, index) => done - (steps[index - 1] ?? 0)))).toBeLessThanOrEqual(2 * Object.values(SEALED_COLUMNS).flat().length);
  expect(await root.store.rotateKeys()).toEqual({ changed: 0, left: 0 });
  // From now on the store needs the second alone; histories keep the first until they end.
  await using after = await keyed([second]);
  expect(await Promise.all(all.map((trial) => words({ root: after }, trial)))).toEqual(said);
  expect(await after.store.snapshot(`${sealed[0]}.1`)).toEqual(snapshot);
  expect(await after.store.approvals(sealed[1] ?? '', 1)).toEqual(await root.store.approvals(sealed[1] ?? '', 1));
  for (const [index, trial] of all.entries()) {
    const kept = await stored(trial);
    for (const text of said[index] ?? []) expect(kept).not.toContain(text);
    expect(kept).not.toContain('"key":"first"');
  }
  expect((await after.store.keys()).map(({ key, known, retiredAt }) => [key, known, retiredAt !== null])).toEqual([
    ['second', true, false],
    ['first', false, true],
  ]);
});

/** A trial that waits for its model while `act` runs, by a worker of these keys in a store of its own. */
async function whileOneWaits(
  keys: Config['keys'],
  act: (at: { readonly bed: Testbed; readonly trial: string }) => Promise<void>,
): Promise<{ readonly bed: Testbed; readonly trial: string; readonly running: ReturnType<Testbed['run']> }> {
  const bed = rotated.use(await startTestbed(inject('services'), { config: { keys } }));
  const suites = rotated.use(await blobs(bed, `keys-${keys.length}`));
  const model = rotated.use(await heldModel('sofia called'));
  model.hold();
  const running = bed.run({ ...(await suites.write(model.agent, model.kase)), keep: 'always' });
  running.catch(() => undefined);
  await expect.poll(() => model.waiting(), { timeout: 30_000 }).toBe(1);
  const [batch] = await bed.root.store.batches({});
  const [{ id: trial } = { id: '' }] = await bed.root.store.trials(batch?.id ?? '');
  await act({ bed, trial });
  model.letGo();
  return { bed, trial, running };
}

const withKeys = ({ config }: Testbed, keys: Config['keys']) => createRoot({ ...config, keys, logLevel: 'silent' });

test('keys change under a trial that waits, in the order that is written down, and it loses nothing', async () => {
  // The new key is everywhere, and the worker still encrypts with the old one.
  const { trial, bed, running } = await whileOneWaits([first, second], async ({ bed, trial }) => {
    await using front = await withKeys(bed, [second, first]);
    const { changed, left } = await front.store.rotateKeys();
    expect(changed).toBeGreaterThan(0);
    expect(left).toBe(0);
    // What it will need is there, word for word.
    for (const over of [front, bed.root])
      expect(JSON.stringify(await over.store.liveConversation(trial, 1, { who: 'agent', agent: null }))).toContain('Note this: sofia called');
  });
  expect((await running).trials).toMatchObject([{ trial, ending: 'completed', pass: 'pass', attempt: 1 }]);
  await using front = await withKeys(bed, [second, first]);
  const said = await words({ root: front }, trial);
  // The worker went on writing under the key that it has in front, and the list says so.
  expect((await front.store.keys()).find(({ key }) => key === 'first')).toMatchObject({ retiredAt: null, values: { records: 1 } });
  expect((await front.store.rotateKeys()).left).toBe(0);
  await using after = await withKeys(bed, [second]);
  expect(await words({ root: after }, trial)).toEqual(said);
  expect(said.length).toBeGreaterThan(1);
  expect((await after.store.conversation(trial, 1)).length).toBeGreaterThan(4);
  expect((await after.store.snapshot(`${trial}.1`))?.snapshot).toMatchObject({ effects: [expect.objectContaining({ table: 'notes' })] });
});

test('a worker that lacks the new key says which it is and what to do, and the trial is not scored', async () => {
  const { trial, bed } = await whileOneWaits([first], async (at) => {
    await using front = await withKeys(at.bed, [second, first]);
    expect((await front.store.rotateKeys()).left).toBe(0);
  });
  const advice = 'Add "second=..." to TRIALBED_KEYS, behind the current key "first", and start this worker or command again';
  await using front = await withKeys(bed, [second, first]);
  await expect.poll(async () => (await front.store.attempts(trial))[0]?.ending, { timeout: 30_000 }).not.toBeNull();
  const [attempt] = await front.store.attempts(trial);
  expect(attempt).toMatchObject({ ending: 'infra_error', problem: { message: expect.stringContaining(advice) } });
  // Another one is refused before it takes a trial.
  await expect(withKeys(bed, [first])).rejects.toThrow(advice);
});
