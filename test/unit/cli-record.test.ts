import { expect, test } from 'vitest';
import type { RecordRequest } from '../../src/client/cassettes/record.ts';
import { runCommandLine } from '../../src/cli/program.ts';
import { TestHost } from './cli-support.ts';

const RECORDED = { case: 'a', variant: 'careful', agent: 'careful', file: '/nowhere/s/cassettes/a/careful.json', why: null, interactions: 3, hidden: {} };
const VERDICT = { pass: 'pass', outcome: 'pass', constraints: 'pass', effects: 'pass' } as const;

function hostOf(asked: RecordRequest[]): TestHost {
  return new TestHost({
    client: {
      record: async (request) => {
        asked.push(request);
        const same = {
          ...RECORDED,
          state: 'changed' as const,
          differences: ['x: 1 -> 2'],
          moreDifferences: 4,
          hidden: { 'api-key': 2 },
          verdict: VERDICT,
          verdictChanges: [],
        };
        const none = {
          ...RECORDED,
          variant: 'hasty',
          state: 'not_recorded' as const,
          why: 'it ended\u001b[2J',
          differences: [],
          moreDifferences: 0,
          verdict: null,
          verdictChanges: [],
        };
        return { type: 'recording', suite: 's', batch: 'b', folder: '/nowhere/s/cassettes', dryRun: request.dryRun ?? false, cassettes: [same, none] };
      },
    },
  });
}

test('record names its case, and shows what differs and what was hidden', async () => {
  const asked: RecordRequest[] = [];
  const host = hostOf(asked);
  const command = ['record', './s/refund-*', '--agent', 'careful', '--agent', 'hasty', '--cassette-dir', 'elsewhere', '--yes', '--dry-run'];
  expect(await runCommandLine(command, host)).toBe(1);
  expect(asked).toMatchObject([{ suite: './s', cases: ['refund-*'], agents: ['careful', 'hasty'], folder: '/nowhere/elsewhere', many: true, dryRun: true }]);
  expect(host.stdout.split('\n')).toEqual([
    'would change a@careful: 3 interactions, verdict pass, s/cassettes/a/careful.json',
    '  hidden: 2 api-key',
    '  x: 1 -> 2',
    '  and 4 more',
    expect.stringMatching(/^not recorded a@hasty: it ended.*\[2J$/),
    '',
    '0 new, 1 changed, 0 as before, 1 not recorded; nothing was written',
    '',
  ]);
  expect(host.stdout).not.toContain('\u001b');
});

test.each([
  ['s/cases/refund.yaml', { suite: 's', cases: ['refund'] }],
  ['support-desk/refund', { suite: 'support-desk', cases: ['refund'] }],
])('record takes %s', async (written, request) => {
  const asked: RecordRequest[] = [];
  await runCommandLine(['record', written], hostOf(asked));
  expect(asked).toMatchObject([request]);
});

test.each([
  [['record', 'refund'], 'names no case; expected SUITE/CASE'],
  [['run', 's', '--variant', 'x'], '--variant is for runs on cassettes; add --cassettes'],
  [['run', 's', '--cassettes', '--faults', 'all'], '--faults needs a world'],
  [['run', 's', '--cassettes', '--isolation', 'database'], '--isolation needs a world'],
])('%j is refused', async (command, message) => {
  const host = new TestHost();
  expect(await runCommandLine(command, host)).toBe(2);
  expect(host.stderr).toContain(message);
});

test('contract names each field that has drifted with both shapes, and is silent where none has', async () => {
  const drift = { tool: 'get_order', cassettes: ['a@careful'], field: 'result.id\u001b[2J', kind: 'type_changed', recorded: 'number', now: 'text' } as const;
  const report = { type: 'contract', suite: 's', batch: 'b', cassettes: 2, tools: ['get_order'], notPlayed: [] } as const;
  const said = async (found: readonly (typeof drift)[]) => {
    const host = new TestHost({ client: { contract: async () => ({ ...report, drift: found }) } });
    return { exit: await runCommandLine(['contract', 's'], host), lines: host.stdout.trimEnd().split('\n') };
  };
  expect(await said([])).toEqual({ exit: 0, lines: ['1 tools of 2 cassettes compared, no drift'] });
  const { exit, lines } = await said([drift]);
  expect(exit).toBe(1);
  expect(lines[0]).toBe('get_order');
  expect(lines[1]).toMatch(/^ {2}result\.id.*\[2J has another type: number, now text \(a@careful\)$/);
  expect(lines.join()).not.toContain('\u001b');
  expect(lines.at(-1)).toBe('"trialbed record s/CASE" records anew what is meant to be so');
});
