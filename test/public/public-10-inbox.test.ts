import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { run } from '../../src/client/run.ts';
import type { TrialStatus } from '../../src/workflows/messages.ts';
import { writeGateSuite } from '../chaos/gate.ts';
import { until } from '../chaos/until.ts';
import { type Bench, expecting, mails, module, rows, startBench } from './bench.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await startBench(inject('services'));
});
afterAll(() => bench[Symbol.asyncDispose]());

it('public-10: 8 trials write to the same recipient with the same subject at once: each world has its own mail', { timeout: 180_000 }, async () => {
  const { root } = bench.testbed;
  const gate = join(bench.folder, 'open');
  const suite = await writeGateSuite(join(bench.folder, 'suite'), gate, ['write_mail']);
  const handle = await run(root, { suite, trials: 8, concurrency: 8, keep: 'always' }, new Promise(() => {}));
  const trials = await root.store.trials(handle.id);
  for (const { id } of trials) {
    await until('its tool waits', async () => (await root.temporal.workflow.getHandle(id).query<TrialStatus>('status')).inFlight.length === 1);
  }
  await writeFile(gate, '');
  const { passed } = await handle.result();
  expect(passed).toBe(8);
  const worlds = new Set<string>();
  for (const { id } of trials) {
    const world = (await root.store.attempts(id))[0]?.world?.id ?? '';
    worlds.add(world);
    const record = await root.store.record(id, 1);
    expect(record?.effects).toMatchObject([
      { kind: 'mail', accepted: true, operation: 'op-1', recipients: [{ address: 'one@example.org', code: 250 }], subject: 'The gate' },
    ]);
    // The one that its own operation sent.
    const stored = await root.store.snapshot(`${id}.1`);
    const rawMails = (stored?.snapshot['rawMails'] ?? []) as unknown as readonly { raw: string }[];
    expect(rawMails).toHaveLength(1);
    expect(Buffer.from(rawMails[0]?.raw ?? '', 'base64').toString('utf8')).toContain(`<op-1.1@${world}.trialbed.invalid>`);
  }
  expect(worlds.size).toBe(8);
  expect(await root.worlds.leased(`${handle.id}-`)).toBe(0);
});

it.each([
  ['send_mail', { to: ['one@example.org'], subject: 'Hello', text: 'Hello.' }],
  ['open_ticket', { subject: 'Hello', body: 'Hello.' }],
])('public-10: %s: trials that end and are torn down meanwhile take nothing from one that goes on', { timeout: 180_000 }, async (tool, args) => {
  const gate = join(bench.folder, `stay-${tool}`);
  const call = { tool, args };
  const kase = {
    expect: {
      outcomes: [
        {
          name: 'two',
          effects: [
            tool === 'send_mail'
              ? { mail: ['one@example.org'], subject: 'Hello', count: 2 }
              : { row: 'tickets', change: 'insert', where: { subject: 'Hello' }, count: 2 },
          ],
        },
      ],
      repeated_writes: 'allow',
    },
    expects_nothing: false,
  };
  const staying = bench.play({ agent: module('calls.ts', { calls: [call, { tool: 'await_file', args: { file: gate } }, call] }), kase });
  // The others come and go, in worlds that the pool gives again.
  for (let round = 0; round < 3; round++) {
    const others = await Promise.all([1, 2].map(() => bench.play({ agent: module('calls.ts', { calls: [call] }), kase: expecting(oneOf(tool)) })));
    expect(others.map(({ trial, record }) => [trial.pass, record.effects.length])).toEqual([
      ['pass', 1],
      ['pass', 1],
    ]);
  }
  await writeFile(gate, '');
  const { trial, record } = await staying;
  expect(trial).toMatchObject({ ending: 'completed', pass: 'pass', attempt: 1, disturbed: false });
  const own = tool === 'send_mail' ? mails(record) : rows(record, 'tickets');
  expect(own.map(({ operation }) => operation)).toEqual(['op-1', 'op-3']);
});

function oneOf(tool: string) {
  return tool === 'send_mail' ? { mail: ['one@example.org'], subject: 'Hello' } : { row: 'tickets', change: 'insert', where: { subject: 'Hello' } };
}
