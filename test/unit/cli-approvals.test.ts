import { expect, test } from 'vitest';
import { DecisionRefusedError } from '../../src/client/approvals.ts';
import { timelineLines } from '../../src/cli/trial-timeline.ts';
import { runCommandLine } from '../../src/cli/program.ts';
import type { ApprovalEnd, OperationApproval } from '../../src/domain/approval.ts';
import { approvalsMarkdown } from '../../src/report/approvals-markdown.ts';
import type { AskedApproval } from '../../src/store/store.ts';
import { TestHost } from './cli-support.ts';
import { operation, trialView } from './trial-view-support.ts';

const ESCAPE = '\u001b[31m';
const END: ApprovalEnd = { outcome: 'approved', by: 'petra', via: 'update', reason: 'fine', at: '2026-03-02T10:00:00.000Z' };
const APPROVAL: OperationApproval = {
  tool: 'issue_refund',
  args: { order_id: 7, note: `red ${ESCAPE}` },
  rows: [{ table: 'orders', where: { id: 7 }, rows: [{ id: 7, name: '<b>Anna</b>' }] }],
  rule: 'issue_refund with amount more than 100',
  digest: 'd'.repeat(64),
  requestedAt: '2026-03-02T09:00:00.000Z',
  expiresAt: '2026-03-03T09:00:00.000Z',
  people: true,
  end: null,
};
const ASKED: AskedApproval = { id: 'b-1.1.op-3', trial: 'b-1', attempt: 1, operation: 'op-3', batch: 'b', case: 'refund', agent: 'ash', approval: APPROVAL };

test('approvals shows what an approver has to see, and nothing of it moves the terminal', async () => {
  const host = new TestHost({ client: { approvals: async () => [ASKED] } });
  expect(await runCommandLine(['approvals'], host)).toBe(0);
  for (const part of ['b-1.1.op-3', 'refund by ash: op-3 issue_refund', 'more than 100', '"order_id":7', 'rows of orders with {"id":7}: 1', 'Anna'])
    expect(host.stdout).toContain(part);
  expect(host.stdout).not.toContain('\u001b');
  expect(host.stderr).toContain('trialbed approve ID');
  const none = new TestHost({ client: { approvals: async () => [] } });
  await runCommandLine(['approvals'], none);
  expect(none.stdout).toBe('nothing waits for an approval\n');
});

test('approvals --json prints a line for each, of one batch where it is named', async () => {
  const seen: unknown[] = [];
  const host = new TestHost({
    client: {
      approvals: async (filter) => {
        seen.push(filter);
        return [ASKED];
      },
    },
  });
  expect(await runCommandLine(['approvals', 'b', '--json'], host)).toBe(0);
  expect(JSON.parse(host.stdout)).toEqual({ type: 'approval', ...ASKED });
  expect(seen).toEqual([{ batch: 'b' }]);
});

test('approve and deny give the decision with a name, and tell what became of the call', async () => {
  const given: unknown[] = [];
  const client = {
    decide: async (id: string, decision: object) => {
      given.push([id, decision]);
      return { asked: ASKED, operation: 'op-3', end: END, told: { state: 'committed' as const, problem: null } };
    },
  };
  const host = new TestHost({ client });
  expect(await runCommandLine(['approve', 'b-1', '--by', 'petra'], host)).toBe(0);
  expect(host.stdout).toContain('approved by petra at 2026-03-02T10:00:00.000Z: fine\nop-3: committed\n');
  expect(await runCommandLine(['deny', 'b-1', '--reason', 'not yet'], new TestHost({ client }))).toBe(0);
  expect(given).toEqual([
    ['b-1', { approved: true, by: 'petra' }],
    ['b-1', { approved: false, by: expect.stringMatching(/^.+@.+$/), reason: 'not yet' }],
  ]);
});

test.each([
  [['deny', 'b-1'], /required option '--reason <text>'/],
  [['deny', 'b-1', '--reason', ' '], /1 to 500 characters/],
  [['approve'], /missing required argument 'id'/],
])('%j is refused', async (args, message) => {
  const host = new TestHost();
  expect(await runCommandLine(args, host)).toBe(2);
  expect(host.stderr).toMatch(message);
});

test('a decision that does not count ends with 2 and says why', async () => {
  const refuse = () => Promise.reject(new DecisionRefusedError('b-1.1.op-3', 'approved by petra already'));
  const host = new TestHost({ client: { decide: refuse } });
  expect(await runCommandLine(['approve', 'b-1'], host)).toBe(2);
  expect(host.stderr).toContain('b-1.1.op-3: approved by petra already');
});

test('the timeline and the report tell who decided, and when', () => {
  const asked = operation({
    approval: { ...APPROVAL, end: { ...END, via: 'signal' } },
    told: 'awaiting_approval',
    ended: { state: 'committed', problem: null },
  });
  const view = trialView();
  const record = view.record && { ...view.record, operations: [asked] };
  const text = timelineLines({ ...view, record }, 200, (_, shown) => shown).join('\n');
  expect(text).toContain('approved by petra, a plain signal, identity unverified at 2026-03-02T10:00:00.000Z: fine');
  expect(text).toContain('after it was told to wait: committed');
  expect(text).toContain('bound to digest dddddddddddd, with rows shown: 1 of orders');
  const approvals = [
    { trial: 'b1-1', case: 'refund', agent: 'clerk', operation: 'op-3', seq: 3, tool: 'issue_refund', rule: 'r', end: END },
    {
      trial: 'b1-1',
      case: 'refund',
      agent: 'clerk',
      operation: 'op-4',
      seq: 4,
      tool: 'issue_refund',
      rule: 'r',
      end: { ...END, outcome: 'expired' as const, by: null, via: null },
    },
  ];
  const report = approvalsMarkdown({ approvals });
  expect(report).toContain('| `issue_refund` | 2 | 1 | 0 | 1 | 0 | 0 |');
  expect(report).toMatch(/- `refund` by `\w+`, call 3 `issue_refund`: approved by petra at/);
  expect(approvalsMarkdown({ approvals: [] })).toBe('');
});
