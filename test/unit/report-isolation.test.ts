import { expect, it } from 'vitest';
import { diagnosticsOf } from '../../src/domain/grading/diagnostics.ts';
import { reportCsv } from '../../src/report/csv.ts';
import { isolationOf } from '../../src/report/figures/isolation.ts';
import { isolationMarkdown } from '../../src/report/isolation-markdown.ts';
import { reportJunit } from '../../src/report/junit.ts';
import { facts, reportData, reportTrial, trial } from './report-support.ts';

const WORLDS = { made: 3, released: 2, swept: 0, leaked: 1, unlike: 1 };
const NONE = {
  rejectedCalls: 0,
  unknownTools: 0,
  invalidArguments: 0,
  deniedCalls: 0,
  repeatedCalls: 0,
  emptyRetrievals: 0,
  noOpWrites: 0,
  unattributedEffects: 0,
  lateAttempts: 0,
};

it('effects of no operation of the trial are contamination, unless its agent had clients of its own', () => {
  const one = (name: string, over: object) => facts(reportTrial(trial({ case: name })), { diagnostics: { ...NONE, ...over } });
  const all = [
    one('clean', {}),
    one('stray', { unattributedEffects: 2, lateAttempts: 3 }),
    one('foreign', { foreignEffects: 1 }),
    { ...one('direct', { unattributedEffects: 9 }), agentHash: 'direct' },
    facts(reportTrial(trial({ case: 'ungraded' }))),
  ];
  const isolation = isolationOf(all, WORLDS, new Set(['direct']));
  expect(isolation).toEqual({
    leakedWorlds: 1,
    unlikeWorlds: 1,
    strayEffects: 3,
    strayTrials: 2,
    example: 'b1-stray-reference-1',
    untold: 1,
    ungraded: 1,
    lateWrites: 3,
  });
  const told = isolationMarkdown({ isolation });
  expect(told).toMatch(/effects of no operation \| \*\*3\*\* \|.*in 2 trials.*1 trials are not among them/);
  expect(told).toMatch(/nobody gave back \| \*\*1\*\*/);
  const { unlike: _, ...before } = WORLDS;
  expect(isolationOf(all, before, new Set()).unlikeWorlds).toBeNull();
});

it('none is told as zero in every format', () => {
  const data = reportData([reportTrial(trial())], {
    facts: [facts(reportTrial(trial()), { diagnostics: { ...NONE } })],
    isolation: isolationOf([], { ...WORLDS, leaked: 0, unlike: 0 }, new Set()),
  });
  expect(isolationMarkdown(data).match(/\| 0 \|/g)).toHaveLength(4);
  expect(reportCsv(data).split('\r\n')[1]).toContain(',no,0,0,0,');
  expect(reportJunit(data)).toMatch(/leaked_worlds" value="0"[\s\S]*unlike_worlds" value="0"[\s\S]*stray_effects" value="0"/);
});

it('an effect of an operation that is none of the trial is told of apart from one of no operation', () => {
  const effect = {
    kind: 'row',
    seq: 1,
    table: 'orders',
    change: 'insert',
    key: { id: 1 },
    before: null,
    after: { id: 1 },
    at: '2026-03-02T09:30:00.000Z',
  } as const;
  const record = (operation: string | null) => ({
    operations: [],
    effects: [{ ...effect, operation }],
    tables: { orders: { key: ['id'], columns: {} } },
    lateAttempts: [],
  });
  expect(diagnosticsOf(record('of another') as never)).toMatchObject({ unattributedEffects: 0, foreignEffects: 1 });
  expect(diagnosticsOf(record(null) as never)).toMatchObject({ unattributedEffects: 1 });
  expect(diagnosticsOf(record(null) as never)).not.toHaveProperty('foreignEffects');
});
