import { expect, test } from 'vitest';
import { teamLines } from '../../src/cli/team-lines.ts';
import { teamUseOf } from '../../src/client/team-use.ts';
import type { ModelCall } from '../../src/domain/model.ts';
import { teamsMarkdown } from '../../src/report/teams-markdown.ts';
import { reportMarkdown } from '../../src/report/report-markdown.ts';
import { reportData, reportTrial, trial } from './report-support.ts';

const call = (agent: string | null, who: 'agent' | 'user' = 'agent'): ModelCall => ({
  ...{ id: 'x', who, agent, source: 'loop', route: 'tiny', url: null, model: 'tiny', reported: null, parameters: {}, seed: null },
  ...{ usage: { input: 100, output: 20, cached: null, reasoning: null }, price: { amount: 0.5, currency: 'USD' }, latencyMs: 10, tries: 1 },
  ...{ end: 'replied', problem: null, at: '2026-03-02T09:30:00.000Z' },
});
const of = (agentName: string, made: ModelCall) => ({ agentName, call: made });

const summaries = [
  trial({ agent: 'reference' }),
  trial({ agent: 'desk', repetition: 1, team: { calls: { front: 3, constructor: 2 }, handOvers: { front: 2 }, repeated: 1 } }),
  trial({ agent: 'desk', repetition: 2, team: { calls: { front: 1 }, handOvers: { front: 1 }, repeated: 0 } }),
];
const calls = [
  of('desk', call('front')),
  of('desk', call('front')),
  of('desk', call(null, 'user')),
  of('reference', call(null)),
  of('desk', call('a|b\u001b[2J')),
];

test('the calls, hand-overs and models of a team are summed by member', () => {
  expect(teamUseOf(summaries, calls)).toMatchObject([
    {
      ...{ agent: 'desk', trials: 2, handOvers: 3, repeated: 1, repeatedIn: 1 },
      members: [
        { member: 'front', calls: 4, handOvers: 3, models: { calls: 2, cost: { USD: 1 } } },
        { member: 'constructor', calls: 2, handOvers: 0, models: null },
        { member: 'a|b\u001b[2J', calls: 0, handOvers: 0, models: { calls: 1 } },
      ],
    },
  ]);
  expect(teamUseOf([trial()], [of('reference', call(null))])).toEqual([]);
});

test('a report and the end of a run have a line for each member, and say where delegation was repeated', () => {
  const teams = teamUseOf(summaries, calls);
  const markdown = teamsMarkdown({ teams });
  expect(markdown.split('\n').slice(0, 3)).toEqual([
    '| agent | member | calls | hand-overs | model calls | tokens | cost |',
    expect.stringMatching(/^\|/),
    '| `desk` | `front` | 4 | 3 | 2 | 200 in 40 out | 1 USD |',
  ]);
  expect(markdown).toContain('| `desk` | `constructor` | 2 | 0 | not measured | not measured | not measured |');
  expect(markdown).toContain('- `desk`: 3 hand-overs in 2 trials; 1 of them repeated one from and to the same, in 1 of the trials');
  const lines = teamLines(teams, 100, (_style, text) => text);
  expect(lines[2]).toMatch(/^desk: front +4 +3 +200 in 40 out +1 USD$/);
  expect(lines.at(-1)).toContain('1 of them repeated');
  expect(lines.join('')).not.toContain('\u001b');
  expect(markdown).not.toContain('\u001b');
  expect([teamsMarkdown({}), teamLines([], 80, (_style, text) => text)]).toEqual(['', []]);
});

test('a report names the member whose call failed or was decided about', () => {
  const summary = trial({ agent: 'desk', pass: 'fail' });
  const details = [{ operation: 'op-1', seq: 1, tool: 'issue_refund', actor: 'clerk', told: 'failed', code: 'refused', detail: 'no such order' }];
  const end = { outcome: 'approved', by: 'petra', via: 'update', reason: null, at: '2026-03-02T09:30:00.000Z' } as const;
  const approvals = [
    { trial: summary.trial, case: summary.case, agent: 'desk', operation: 'op-2', seq: 2, tool: 'issue_refund', actor: 'clerk', rule: 'issue_refund', end },
  ];
  const report = reportMarkdown(reportData([reportTrial(summary, { details })], { approvals }));
  expect(report).toContain('- call 1 `issue_refund` of `clerk` failed (`refused`)');
  expect(report).toContain('by `desk`, call 2 `issue_refund` of `clerk`: ');
});
