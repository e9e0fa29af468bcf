import { expect, test } from 'vitest';
import { runCommandLine } from '../../src/cli/program.ts';
import { wrap } from '../../src/cli/trial-timeline.ts';
import { TestHost } from './cli-support.ts';
import { operation, trialView } from './trial-view-support.ts';

test('show tells a trial from the request to the verdict', async () => {
  const host = new TestHost({ client: { show: async () => trialView() } });
  expect(await runCommandLine(['show', 'b1-a'], host)).toBe(0);
  const text = host.stdout;
  expect(text).toContain('refund by hasty, repetition 1: fail');
  expect(text).toContain('user    Please refund order 1007.');
  // Told and known are both there where they differ, and only there.
  expect(text).toMatch(/ 1 {2}issue_refund \{"order_id":1007,"amount":"25.00"\} {2}committed 12 ms$/m);
  expect(text).toMatch(/ 2 {2}send_mail .*unknown \(the systems of record: committed\)/);
  // Of an update only what differs; each effect under the operation that caused it.
  expect(text).toMatch(/issue_refund[\s\S]*effect update orders 1007: status "open" -> "refunded"\n[\s\S]*send_mail/);
  expect(text).toContain('effect mail to anna@example.org, eve@example.org (refused, 550): Refund \\x1b]0;owned\\x07 | Hello');
  expect(text).toMatch(/without an operation:\n +effect delete orders 1/);
  expect(text).toContain('sql: update orders');
  // The verdict with its evidence, how it was graded again, and every attempt.
  expect(text).toMatch(/fail wrong_value at outcomes\[0\]\.effects\[0\]: refunds\.amount differs\n +expected 25\n +found +250\n +by +op-1/);
  expect(text).toContain('by a case that was edited since');
  expect(text).toContain('earlier: pass of attempt 2, graded 2026-03-02T10:00:00Z');
  expect(text).toContain('repeated calls 2');
  expect(text).toMatch(/1 {2}infra_error, from .*world_gone: world w1 no longer exists/);
  expect(text).toMatch(/2 {2}completed, counts, .*world k3 on embedded/);
  expect(text).not.toMatch(/[\u001b\u0007\u202e]/);
});

test('show tells operators why a tool failed, whole and safe to print', async () => {
  const view = trialView();
  const detail = `duplicate key value violates unique constraint "refunds_pkey" (SQLSTATE 23505); ${'Key (id)=(1) already exists. '.repeat(6)}\u001b]0;owned\u0007`;
  const failed = operation({ told: 'failed', known: 'failed', result: null, problem: { code: 'tool_error', message: 'The tool failed.' }, detail });
  const host = new TestHost({ client: { show: async () => ({ ...view, record: view.record && { ...view.record, operations: [failed] } }) } });
  await runCommandLine(['show', 'b1-a'], host);
  expect(host.stdout).toMatch(/tool_error: The tool failed\.\n +detail duplicate key value violates unique constraint "refunds_pkey"/);
  expect(host.stdout.match(/already exists/g)).toHaveLength(6);
  expect(host.stdout).toContain('\\x1b]0;owned\\x07');
  expect(host.stdout).not.toMatch(/[\u001b\u0007]/);
});

test('show tells what came with a token after the record was made, safe to print, and nothing of it where nothing came', async () => {
  const late = [
    { at: '2026-03-02T08:40:00.000Z', detail: 'issue_refund {"order_id":1007}' },
    { at: '2026-03-02T08:41:00.000Z', detail: 'a tool \u001b[2Jof no name' },
  ];
  const host = new TestHost({ client: { show: async () => ({ ...trialView(), lateRequests: late }) } });
  await runCommandLine(['show', 'b1-a'], host);
  expect(host.stdout).toMatch(
    /later still \(refused after the record was made\)\n +2026-03-02T08:40:00\.000Z issue_refund \{"order_id":1007\}\n +2026-03-02T08:41:00\.000Z a tool \\x1b\[2Jof no name\n/,
  );
  const none = new TestHost({ client: { show: async () => ({ ...trialView(), lateRequests: [] }) } });
  await runCommandLine(['show', 'b1-a'], none);
  expect(none.stdout).not.toContain('later still');
});

test('show --json is the whole view on one line', async () => {
  const host = new TestHost({ client: { show: async () => trialView() } });
  await runCommandLine(['show', 'b1-a', '--json'], host);
  expect(JSON.parse(host.stdout)).toEqual({ type: 'trial_view', ...JSON.parse(JSON.stringify(trialView())) });
  expect(host.stdout.trimEnd()).not.toContain('\n');
});

test('a trial that was not graded says so', async () => {
  const host = new TestHost({ client: { show: async () => ({ ...trialView(), record: null, verdicts: [], messages: [] }) } });
  await runCommandLine(['show', 'b1-a'], host);
  expect(host.stdout).toContain('no record: nothing was graded');
  expect(host.stdout).toContain('none: the trial was not graded');
});

test('lines break at spaces, and a long word stays whole', () => {
  expect(wrap('aa bb cc', 5)).toEqual(['aa bb', 'cc']);
  expect(wrap('https://example.org/long x', 5)).toEqual(['https://example.org/long', 'x']);
  expect(wrap('', 5)).toEqual(['']);
  expect(wrap('  - a b', 5)).toEqual(['  - a', 'b']);
});

test('what judges said of it has its block, with their words made safe', async () => {
  const series = { id: 'aaaa000000000000', rubric: 'tone', version: '1', digest: 'd', route: 'small', prompt: '1' };
  const judge = { api: 'openai', url: 'http://127.0.0.1:1/v1', model: 'tiny', seed: null, parameters: {} } as const;
  const said = { series: series.id, trial: 't', attempt: 1, shortened: false, usage: null, price: null, reported: null, latencyMs: null, tries: 1, at: '' };
  const judgements = [
    { series: { ...series, judge }, judgement: { ...said, category: 'kind', reason: 'It \u001b[2Jgreeted.', problem: null } },
    {
      series: { ...series, judge, route: 'large' },
      judgement: { ...said, category: null, reason: null, problem: { code: 'bad_reply', message: 'it is not one JSON object' } },
    },
  ];
  const host = new TestHost({ client: { show: async () => ({ ...trialView(), judgements }) } });
  expect(await runCommandLine(['show', 't'], host)).toBe(0);
  expect(host.stdout).toContain('tone 1 by small (aaaa0000): kind: It \\x1b[2Jgreeted.');
  expect(host.stdout).toContain('tone 1 by large (aaaa0000): no category: it is not one JSON object');
});
