import { expect, test } from 'vitest';
import { runCommandLine } from '../../src/cli/program.ts';
import { summaryLines } from '../../src/cli/summary-lines.ts';
import type { ModelCall, ModelTotals } from '../../src/domain/model.ts';
import type { BatchSummary } from '../../src/domain/trial.ts';
import { costText, tokensText } from '../../src/report/model-text.ts';
import { reportMarkdown } from '../../src/report/report-markdown.ts';
import { TestHost } from './cli-support.ts';
import { reportData, reportTrial, trial } from './report-support.ts';
import { trialView } from './trial-view-support.ts';

const TOTALS: ModelTotals = {
  ...{ calls: 3, unanswered: 1, tokens: { input: 900, output: 40, cached: 300, reasoning: 0 }, cost: { USD: 0.00012345678 } },
  ...{ unmeasured: { tokens: 0, cost: 1 }, latencyMs: 2_500, failedTries: 4, versions: ['tiny|1'] },
};
const USE = [
  { agent: 'tiny', who: 'agent', totals: TOTALS },
  { agent: 'own', who: 'agent', totals: null },
] as const;
const STOPPED = { limit: { amount: 1, currency: 'USD' }, spent: { amount: 1.25, currency: 'USD' }, left: 7 };
const plain = (_style: string, text: string) => text;

test('what was not measured is never 0', () => {
  expect(costText(null)).toBe('not measured');
  expect(costText({ ...TOTALS, cost: null })).toBe('not measured');
  expect(tokensText(null)).toBe('not measured');
  expect(costText(TOTALS)).toBe('0.000123457 USD + 1 calls not measured');
  expect(tokensText(TOTALS)).toBe('900 in (300 cached) 40 out');
});

test('a report tells what models used, of every agent, and why a batch stopped', () => {
  const data = reportData([reportTrial(trial({ agent: 'tiny' })), reportTrial(trial({ agent: 'own' }))]);
  const measured = reportMarkdown({ ...data, summary: { ...data.summary, models: USE, stopped: STOPPED } });
  expect(measured).toContain('Stopped: 1.25 of 1 USD are spent; 7 trials were not started.');
  expect(measured).toMatch(/\| `tiny` \| 3 \| 900 in \(300 cached\) 40 out \| 0.000123457 USD \+ 1 calls not measured \| 1.25 s \| 4 \| `tiny\\\|1` \|/);
  expect(measured).toMatch(/\| `own` \| not measured \| not measured \| not measured \|/);
  expect(reportMarkdown(data)).toMatch(/\| `own` \| not measured \| not measured \| not measured \|/);
});

test('the end of a run tells it too, and a batch that stopped has not met its gate', () => {
  const { summary } = reportData([reportTrial(trial())]);
  const lines = (changes: Partial<BatchSummary>) =>
    summaryLines({ ...summary, ...changes }, [], { markdown: 'a', json: 'b' }, { columns: 120, paint: plain, hint: (command) => command }).join('\n');
  expect(lines({ models: USE, stopped: STOPPED })).toMatch(/tiny +3 +900 in .* 1.25 s\nown +not measured +not measured +not measured/);
  expect(lines({ stopped: STOPPED })).toContain(
    'stopped: 1.25 of 1 USD are spent, and 7 trials were not started; the same command with a higher --max-cost goes on',
  );
  expect(lines({})).not.toContain('models');
});

test('show tells a trial’s use, and what was said as it was kept', async () => {
  const call: ModelCall = {
    ...{ id: 'agent-1', who: 'agent', agent: null, source: 'loop', route: 'tiny', url: null, model: 'tiny', reported: 'v1', parameters: {}, seed: null },
    ...{ usage: { input: 10, output: 2, cached: null, reasoning: null }, price: null, latencyMs: 12, tries: 2, end: 'replied', problem: null, at: '' },
  };
  const entry = { who: 'agent', agent: null, call: 'agent-1' } as const;
  const view = trialView();
  const summary = view.trial.summary && { ...view.trial.summary, models: { agent: TOTALS, user: null } };
  const host = new TestHost({
    client: {
      show: async () => ({
        ...{ ...view, trial: { ...view.trial, summary }, modelCalls: [call] },
        conversation: [
          { ...entry, seq: 1, role: 'user', body: { text: 'one\ntwo \u001b]0;owned\u0007' } },
          { ...entry, seq: 2, role: 'assistant', body: { text: null, calls: [{ id: 'c', tool: 'find', args: '{"id":1}' }] } },
          { ...entry, seq: 3, role: 'tool', body: { omitted: true } },
        ],
      }),
    },
  });
  await runCommandLine(['show', 'b1-a', '--conversation'], host);
  expect(host.stdout).toMatch(/models +3 calls, 900 in .*, cost 0.000123457 USD \+ 1 calls not measured, 1.25 s a call, 4 tries without a reply, tiny\|1/);
  expect(host.stdout).toContain('agent, 1, user\n  one\n  two \\x1b]0;owned\\x07');
  expect(host.stdout).toContain('agent, 2, assistant, agent-1, 10 tokens in, 2 out, cost not measured, 12 ms, 2 tries\n  calls find {"id":1}');
  expect(host.stdout).toContain('left out: the record of this attempt is full');
  const bare = new TestHost({ client: { show: async () => trialView() } });
  await runCommandLine(['show', 'b1-a'], bare);
  expect(bare.stdout).toMatch(/models +tokens and cost not measured/);
});
