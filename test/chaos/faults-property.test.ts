import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { stringify } from 'yaml';
import { run } from '../../src/client/run.ts';
import { startWorkerProcess } from '../../src/client/worker-process.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { TrialSummary } from '../../src/domain/trial.ts';
import { startTrialWorker } from '../../src/worker/trial-worker.ts';
import { startTestbed, type Testbed } from '../harness/testbed.ts';
import { unsoundness } from './sound.ts';

/** Every run draws the same, unless it is given another seed. */
const SEED = Number(process.env.TRIALBED_PROPERTY_SEED ?? 20260302);
const TRIALS = 24;

/** Calls that always have an effect when they commit, and reads. By name of the step, so that later ones can look it up. */
const CALLS: readonly JsonObject[] = [
  { call: 'issue_refund', with: { order_id: 5005, amount: 10, reason: 'damaged' } },
  { call: 'issue_refund', with: { order_id: 5005, amount: 10, reason: 'damaged' }, key: 'refund' },
  { call: 'issue_refund', with: { order_id: 5005, amount: 9000, reason: 'damaged' } },
  { call: 'schedule_follow_up', with: { customer_id: 1007, kind: 'call', due_at: '2026-05-05T09:00:00+01:00', note: 'Call back' } },
  { call: 'send_mail', with: { to: ['anna@example.org'], subject: 'Your order', text: 'It is on its way.' } },
  { call: 'create_ticket', with: { subject: 'Order 5005', body: 'Please look at it.', requester: 'j.meier@example.org' } },
  { call: 'list_refunds', with: { order_id: 5005 } },
  { call: 'get_ticket', with: { ticket_id: 214 } },
  { call: 'wait', with: { seconds: 60 } },
];
const LOOK = { call: 'get_operation', with: { operation: '${step1!operation}' } };

const TOOLS = ['issue_refund', 'schedule_follow_up', 'send_mail', 'create_ticket'] as const;
const anyTool = fc.constantFrom(...TOOLS);
const when = fc.oneof(
  fc.record({ call: fc.integer({ min: 1, max: 2 }) }),
  fc.record({ calls: fc.record({ from: fc.integer({ min: 1, max: 2 }) }) }),
  fc.record({ probability: fc.constantFrom(0.3, 0.7) }),
);
const rule = fc.oneof(
  fc
    .tuple(anyTool, fc.constantFrom('timeout_before_commit', 'timeout_after_commit', 'malformed_reply', 'unavailable', 'payload_too_large'), when)
    .map(([on, fault, at]) => ({ on, fault, ...at })),
  fc.tuple(anyTool, when).map(([on, at]) => ({ on, fault: 'rate_limited', retry_after: 30, ...at })),
  fc.tuple(anyTool, fc.constantFrom(5, 40), when).map(([on, by, at]) => ({ on, fault: 'slow', by, ...at })),
  fc.tuple(anyTool, when).map(([on, at]) => ({ on, fault: 'duplicate_delivery', ...at })),
  fc.tuple(anyTool, when).map(([on, at]) => ({ on, fault: 'stale_read', reads: 2, ...at })),
  fc.tuple(fc.constantFrom('smtp_connect', 'smtp_recipient', 'smtp_data', 'smtp_final_dot'), when).map(([fault, at]) => ({ on: 'send_mail', fault, ...at })),
  fc
    .tuple(fc.constantFrom('unavailable', 'timeout_after_commit', 'malformed_reply'), when)
    .map(([fault, at]) => ({ on: { service: 'tickets' }, fault, ...at })),
);
const drawn = fc.record({
  steps: fc.array(fc.constantFrom(...CALLS, LOOK), { minLength: 2, maxLength: 7 }),
  rules: fc.array(rule, { minLength: 2, maxLength: 5 }),
});
const CRASHES = ['dispatched_before_write', 'tool_wrote_before_commit', 'committed_before_reply', 'mail_stored_before_reply', 'fenced_before_grade'] as const;
const crash = fc.record({ name: fc.constantFrom(...CRASHES), hit: fc.integer({ min: 2, max: 12 }) });

let home: string;
let folder: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trialbed-chaos-'));
  folder = await mkdtemp(join(tmpdir(), 'trialbed-property-'));
});
afterAll(async () => {
  await rm(home, { recursive: true, force: true });
  await rm(folder, { recursive: true, force: true });
});

/** A suite with a case for each drawn script, and its schedule. */
async function writeSuite(name: string, trials: readonly { readonly steps: readonly JsonObject[]; readonly rules: readonly JsonObject[] }[]): Promise<string> {
  const suite = join(folder, name);
  for (const part of ['cases', 'faults']) await mkdir(join(suite, part), { recursive: true });
  const common = { user: { name: 'mara', role: 'agent' }, clock: '2026-03-02T09:30:00+01:00', timezone: 'Europe/Berlin' };
  await writeFile(join(suite, 'suite.yaml'), stringify({ name, environment: 'support-desk', ...common }));
  for (const [n, { steps, rules }] of trials.entries()) {
    // The first step is always a write, so that there is something to look up.
    const named = [CALLS[n % 6] as JsonObject, ...steps].map((step, at) => ({ ...step, as: `step${at + 1}` }));
    const kase = {
      title: `Drawn ${n}`,
      kind: 'drawn',
      request: 'Do it.',
      expect: { outcomes: [{ name: 'whatever', effects: [] }] },
      expects_nothing: true,
      reference: { steps: named, answer: 'Done.' },
    };
    await writeFile(join(suite, 'cases', `drawn-${n}.yaml`), stringify(kase));
    await writeFile(join(suite, 'faults', `drawn-${n}.yaml`), stringify({ cases: [`drawn-${n}`], faults: rules }));
  }
  return suite;
}

async function play(testbed: Testbed, suite: string, doomed: Awaited<ReturnType<typeof startWorkerProcess>> | null): Promise<TrialSummary[]> {
  const request = { suite, agents: ['reference'], faults: ['drawn-*'], keep: 'always', concurrency: 8 } as const;
  if (!doomed) return [...(await testbed.run(request)).trials];
  const handle = await run(testbed.root, request, new Promise(() => {}));
  const trials: TrialSummary[] = [];
  const read = (async () => {
    for await (const event of handle.events()) if (event.type === 'trial') trials.push(event);
  })();
  // A batch that never passes the failpoint ends by itself.
  await Promise.race([doomed.broken.catch(() => {}), read]);
  await using _survivor = await startTrialWorker(testbed.root);
  await read;
  return trials;
}

it.each(['no crash', 'a crash', 'another crash'])(
  'drawn scripts under drawn schedules, %s: the ledger and the systems of record agree, and nothing comes after the fence',
  async (name) => {
    const seed = SEED + name.length;
    const trials = fc.sample(drawn, { numRuns: TRIALS, seed });
    const [failpoint] = fc.sample(crash, { numRuns: 1, seed });
    const crashes = name !== 'no crash' && failpoint !== undefined;
    await using testbed = await startTestbed(inject('services'), { worker: !crashes, config: { home } });
    const suite = await writeSuite(`drawn-${name.replaceAll(' ', '-')}`, trials as never);
    const doomed = crashes ? await startWorkerProcess({ ...testbed.config, failpoints: [failpoint] }) : null;
    const ended = await play(testbed, suite, doomed);
    await doomed?.[Symbol.asyncDispose]();
    expect(ended).toHaveLength(TRIALS);
    let fired = 0;
    for (const trial of ended) {
      const what = `seed ${seed}, ${trial.case}${crashes ? `, killed at ${failpoint.name} ${failpoint.hit}` : ''}`;
      expect(trial.ending, `${what}: ${trial.why}`).toBe('completed');
      const record = await testbed.root.store.record(trial.trial, trial.attempt);
      const snapshot = await testbed.root.store.snapshot(trial.snapshot ?? '');
      if (!record || !snapshot) throw new Error(`${what}: no record or no snapshot`);
      expect(unsoundness(record, snapshot.snapshot), what).toEqual([]);
      fired += record.faults?.injected.length ?? 0;
    }
    expect(fired).toBeGreaterThan(TRIALS / 2);
  },
  300_000,
);
