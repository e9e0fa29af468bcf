import { describe, expect, it } from 'vitest';
import { representative } from '../../src/report/comparison/representative.ts';
import { seriesOf } from '../../src/report/figures/series.ts';
import { seriesMarkdown } from '../../src/report/series-markdown.ts';
import type { SeriesBatch, SeriesTask } from '../../src/store/series.ts';
import { compared, type End, trialsOf } from './comparison-support.ts';

function task(name: string, over: Partial<SeriesTask> = {}): SeriesTask {
  return {
    agent: 'careful',
    agentVersion: '1',
    agentHash: 'a'.repeat(64),
    case: name,
    caseHash: `hash of ${name}`,
    schedule: 'none',
    scheduleHash: null,
    trials: 1,
    scored: 1,
    passed: 1,
    harmful: 0,
    ...over,
  };
}

function batch(day: number, tasks: readonly SeriesTask[], over: Partial<SeriesBatch> = {}): SeriesBatch {
  return {
    batch: `b${day}`,
    createdAt: `2026-03-0${day}T02:00:00.000Z`,
    environment: { version: '1', generation: 'g'.repeat(64) },
    graders: ['7'],
    tasks,
    ...over,
  };
}

describe('a series', () => {
  it('is of the tasks that the newest batch has, leaves out what holds fewer than half of them, and says what is new', () => {
    const series = seriesOf([
      batch(1, [task('a'), task('b', { passed: 0 }), task('gone')]),
      batch(2, [task('gone')]),
      batch(3, [task('a', { agentVersion: '2', agentHash: 'b'.repeat(64) }), task('b'), task('c')]),
      batch(4, [task('a'), task('b', { caseHash: 'edited' }), task('c')], { graders: ['8'], environment: { version: '1', generation: 'h'.repeat(64) } }),
    ]);
    expect(series.leftOut).toBe(1);
    expect(series.agents[0]?.points.map(({ batch: id, tasks, of, passed, fresh }) => [id, tasks, of, passed.count, passed.of, fresh])).toEqual([
      ['b1', 2, 3, 1, 2, []],
      ['b3', 3, 3, 3, 3, ['agent', 'cases']],
      ['b4', 3, 3, 3, 3, ['agent', 'environment', 'cases', 'graders']],
    ]);
  });

  it('keeps trials without a result apart, and clusters by case where cases repeat', () => {
    const [agent] = seriesOf([batch(1, [task('a', { trials: 4, scored: 3, passed: 2, harmful: 1 }), task('b', { trials: 3, scored: 3, passed: 3 })])]).agents;
    expect(agent?.points[0]).toMatchObject({ missing: 1, passed: { count: 5, of: 6, method: 'clustered' }, harmless: { count: 5, of: 6 } });
    const [once] = seriesOf([batch(1, [task('a'), task('b', { scored: 0, passed: 0 })])]).agents;
    expect(once?.points[0]).toMatchObject({ passed: { count: 1, of: 1, method: 'wilson' } });
  });

  it('as Markdown has the newest first, and nothing where nobody asked', () => {
    const series = seriesOf([batch(1, [task('a', { agent: 'x|y' })]), batch(2, [task('a', { agent: 'x|y', scored: 0, passed: 0 })])]);
    const lines = seriesMarkdown({ series }).split('\n');
    expect(lines.slice(-2).map((line) => line.includes('b2'))).toEqual([true, false]);
    expect(lines.at(-2)).toContain('nothing scored');
    expect(lines.at(-1)).toContain('x\\|y');
    expect(seriesMarkdown({})).toBe('');
    expect(seriesOf([])).toEqual({ agents: [], leftOut: 0 });
  });
});

it('of changed trials some stand for all: of each kind, and of each case before a second of any', () => {
  const ends = (end: End): End[] => Array.from({ length: 6 }, () => end);
  const { changed } = compared(trialsOf([...ends('pass'), 'useless'], { repetitions: 3 }), trialsOf([...ends('harmful'), 'pass'], { repetitions: 3 }));
  const some = representative(changed, 4);
  expect(some.map(({ change, case: name, repetition }) => [change, name, repetition])).toEqual([
    ['worse', 'c1', 1],
    ['worse', 'c2', 1],
    ['better', 'c7', 1],
    ['better', 'c7', 2],
  ]);
  expect(representative(changed, 1000)).toEqual(changed);
});
