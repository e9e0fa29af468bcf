import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommandLine } from '../../src/cli/program.ts';
import { type CompareRequest, ComparisonRefusedError } from '../../src/client/compare.ts';
import type { Trialbed } from '../../src/client/api.ts';
import type { AgentSpec } from '../../src/domain/agent.ts';
import { TestHost } from './cli-support.ts';
import { compared, trialsOf } from './comparison-support.ts';
import { facts, reportData, reportTrial, trial } from './report-support.ts';

const AGENTS: { readonly [batch: string]: readonly string[] } = { two: ['careful', 'new'], one: ['hasty'], many: ['a', 'b'] };
const comparison = compared(trialsOf(['pass', 'harmful', 'pass', 'pass']), trialsOf(['pass', 'pass', 'useless', 'pass']));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trialbed-cli-report-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function report(...args: string[]) {
  const compares: CompareRequest[] = [];
  const series: unknown[] = [];
  const one = reportTrial(trial());
  const { batch, summary } = reportData([one]);
  const client: Partial<Trialbed> = {
    batches: async ({ suite } = {}) =>
      suite === 'support-desk'
        ? [
            { ...batch, id: 'forked', options: { ...batch.options, fork: true } },
            { ...batch, id: 'two' },
          ]
        : [],
    results: async (id) => ({
      batch: { ...batch, id },
      trials: [],
      summary: { ...summary, gate: 'met' },
      facts: [facts(one)],
      today: '2026-03-02T10:00:00.000Z',
    }),
    documents: async (id) => ({
      cases: [],
      schedules: [],
      agents: (AGENTS[id] ?? []).map((name) => ({ hash: name, spec: { name, version: '1', kind: 'reference' } satisfies AgentSpec })),
      approvals: [],
    }),
    show: async () => ({ ...VIEW, trial: one.row }) as never,
    compare: async (request) => {
      compares.push(request);
      if (request.b.agent === 'new') throw new ComparisonRefusedError('nothing_matches', 'no trial of the one is a trial of the other');
      return comparison;
    },
    series: async (id, options = {}) => {
      series.push([id, options]);
      return { agents: [], leftOut: 3 };
    },
  };
  const host = new TestHost({ client });
  const exit = await runCommandLine(['report', ...args, '--format', 'md', '--out', folder], host);
  return { exit, compares, series, host };
}

const VIEW = { kase: { title: 'Refund' }, attempts: [], record: null, verdicts: [] };

test('with --against every agent of the batch is compared with the one of its name, else with the only one; one that cannot be is told of', async () => {
  const { exit, compares, host } = await report('two', '--against', 'one', '--across-generations');
  expect(exit).toBe(0);
  expect(compares).toEqual([
    { a: { batch: 'one', agent: 'hasty' }, b: { batch: 'two', agent: 'careful' }, acrossGenerations: true },
    { a: { batch: 'one', agent: 'hasty' }, b: { batch: 'two', agent: 'new' }, acrossGenerations: true },
  ]);
  expect(host.stdout).toMatch(/^careful beside one:hasty: Safer: not shown\. /);
  expect(host.stdout).toContain('new beside one:hasty: not compared: no trial of the one is a trial of the other.');
  expect(await readFile(join(folder, 'report.md'), 'utf8')).toMatch(/## Changed trials\n\ncareful beside one:hasty:\n\n\| case \|/);
});

test('in one batch the agent that is there is named, and is no candidate', async () => {
  const { compares } = await report('two', '--against', 'two:new');
  expect(compares).toEqual([{ a: { batch: 'two', agent: 'new' }, b: { batch: 'two', agent: 'careful' } }]);
});

test('without it the report says that it is compared with nothing', async () => {
  const { host, series } = await report('two');
  expect(host.stdout).toContain('It is compared with nothing');
  expect(series).toEqual([]);
});

test("a suite's name is its newest batch, with as many batches of its series as are asked for", async () => {
  expect((await report('support-desk', '--series', '12')).series).toEqual([['two', { limit: 12 }]]);
  expect((await report('two', '--series')).series).toEqual([['two', {}]]);
  expect(await readFile(join(folder, 'report.md'), 'utf8')).toContain('3 batches with fewer than half');
});

test.each([
  [['two', '--across-generations'], '--across-generations needs --against'],
  [['two', '--against', 'one:'], 'neither BATCH nor BATCH:AGENT'],
  [['two', '--against', 'two'], 'say which of them is there, as in two:careful'],
  [['two', '--against', 'many:gone', '--series', '0'], 'whole number from 1'],
  [['two', '--series', '500'], 'at most 400'],
])('report %j is refused', async (args, message) => {
  const { exit, host } = await report(...args);
  expect(exit).not.toBe(0);
  expect(host.stderr).toContain(message);
});
