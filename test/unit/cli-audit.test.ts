import { expect, test } from 'vitest';
import { runCommandLine } from '../../src/cli/program.ts';
import { audited } from '../../src/client/audited.ts';
import { PointRefusedError } from '../../src/client/points/errors.ts';
import { ControlRefusedError } from '../../src/client/control-errors.ts';
import type { AuditedAct, AuditEntry, AuditOutcome } from '../../src/store/audit.ts';
import { TestHost } from './cli-support.ts';

const ACT: AuditedAct = { by: 'petra@desk', via: 'cli', roles: null, action: 'cancel', target: 'b-1', detail: null };
const ENTRY: AuditEntry = { ...ACT, id: 7, at: '2026-03-02T10:00:00.000Z', outcome: 'refused', problem: 'it has ended' };

test('audit prints a line for each request, and nothing in it can make another one or move the terminal', async () => {
  const forged = {
    ...ENTRY,
    via: 'console' as const,
    roles: ['viewer'],
    detail: 'why\n2026-03-02T10:00:01.000Z  done     approve b-2\u001b[2K',
    by: '\u202eartep',
  };
  const host = new TestHost({ client: { audit: async () => [forged, ENTRY] } });
  expect(await runCommandLine(['audit'], host)).toBe(0);
  const lines = host.stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(2);
  expect(lines[0]).toContain('cancel b-1 by \\u{202e}artep (console, viewer): why\\n2026');
  expect(lines[1]).toBe('2026-03-02T10:00:00.000Z  refused  cancel b-1 by petra@desk (cli): it has ended');
  expect(host.stdout).not.toMatch(/[\u001b\u202e]/);
});

test('audit --json prints a line of JSON for each, of one target where it is named', async () => {
  const asked: unknown[] = [];
  const host = new TestHost({ client: { audit: async (filter) => (asked.push(filter) > 0 ? [ENTRY] : []) } });
  expect(await runCommandLine(['audit', 'b-1', '--limit', '5', '--json'], host)).toBe(0);
  expect(JSON.parse(host.stdout)).toEqual({ type: 'audit', ...ENTRY });
  expect(asked).toEqual([{ target: 'b-1', limit: 5 }]);
});

test('what was asked is in the log before it is done; what became of it follows', async () => {
  const told: (string | AuditOutcome)[] = [];
  const store = {
    audit: async () => told.push('asked'),
    endAudited: async (_id: number, end: Pick<AuditEntry, 'outcome' | 'problem'>) => void told.push(end.outcome, end.problem ?? 'no problem'),
  };
  const work = (error: Error | null) => async () => {
    told.push('work');
    if (error) throw error;
    return 5;
  };
  expect(await audited(store, ACT, work(null))).toBe(5);
  await expect(audited(store, ACT, work(new ControlRefusedError('it has ended')))).rejects.toThrow('it has ended');
  await expect(audited(store, ACT, work(new PointRefusedError('b-1', 'there is no op-22')))).rejects.toThrow('op-22');
  await expect(audited(store, ACT, work(new Error('away')))).rejects.toThrow('away');
  expect(told).toEqual([
    ...['asked', 'work', 'done', 'no problem', 'asked', 'work', 'refused', 'it has ended'],
    ...['asked', 'work', 'refused', 'there is no op-22', 'asked', 'work', 'failed', 'away'],
  ]);
  const closed = { ...store, audit: async () => Promise.reject(new Error('the store is away')) };
  told.length = 0;
  await expect(audited(closed, ACT, work(null))).rejects.toThrow('the store is away');
  expect(told).toEqual([]);
});
