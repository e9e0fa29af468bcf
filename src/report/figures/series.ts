import { createHash } from 'node:crypto';
import { clusteredRate } from '../../domain/statistics/clustered.ts';
import { wilson } from '../../domain/statistics/wilson.ts';
import type { SeriesBatch, SeriesTask } from '../../store/series.ts';
import type { Rate } from '../../domain/gates/rate.ts';

/** How the batches of a suite came to the newest one, by agent. */
export interface Series {
  readonly agents: readonly AgentSeries[];
  /** Batches before it that hold fewer than half of its tasks (a case under a schedule) for any of its agents. */
  readonly leftOut: number;
}

export interface AgentSeries {
  readonly agent: string;
  /** The oldest first. */
  readonly points: readonly SeriesPoint[];
}

/** An agent in one batch, over the tasks that the newest batch has too. */
export interface SeriesPoint {
  readonly batch: string;
  /** ISO 8601. */
  readonly at: string;
  /** Of the tasks of the newest batch, those that it has. */
  readonly tasks: number;
  readonly of: number;
  /** Trials without a result. */
  readonly missing: number;
  readonly passed: Rate;
  /** Scored trials that broke no rule. */
  readonly harmless: Rate;
  /** What was tested, by kind. */
  readonly versions: { readonly [what in Versioned]: string };
  /** What is another one than in the point before. */
  readonly fresh: readonly Versioned[];
}

/** What a point may differ in from the one before, so that they are not of one series. */
export const VERSIONED = ['agent', 'environment', 'cases', 'faults', 'graders'] as const;

export type Versioned = (typeof VERSIONED)[number];

/** Works out a series; `batches` are the oldest first, and the last one says which agents and tasks it is of. */
export function seriesOf(batches: readonly SeriesBatch[]): Series {
  const last = batches.at(-1);
  if (last === undefined) return { agents: [], leftOut: 0 };
  const shown = new Set<string>([last.batch]);
  const agents = [...new Set(last.tasks.map(({ agent }) => agent))].map((agent): AgentSeries => {
    const wanted = new Set(last.tasks.filter((one) => one.agent === agent).map(taskKey));
    const points: SeriesPoint[] = [];
    for (const batch of batches) {
      const tasks = batch.tasks.filter((one) => one.agent === agent && wanted.has(taskKey(one)));
      if (tasks.length === 0 || tasks.length * 2 < wanted.size) continue;
      shown.add(batch.batch);
      points.push(pointOf(batch, tasks, wanted.size, points.at(-1)));
    }
    return { agent, points };
  });
  return { agents, leftOut: batches.length - shown.size };
}

function taskKey({ case: name, schedule }: SeriesTask): string {
  return JSON.stringify([name, schedule]);
}

function pointOf(batch: SeriesBatch, tasks: readonly SeriesTask[], of: number, before: SeriesPoint | undefined): SeriesPoint {
  const distinct = (texts: readonly string[]): string => [...new Set(texts)].sort().join(' and ');
  const cases = new Map(tasks.map((one) => [one.case, one.caseHash]));
  const faults = new Map(tasks.flatMap(({ schedule, scheduleHash }) => (scheduleHash === null ? [] : [[schedule, scheduleHash] as const])));
  const versions = {
    agent: distinct(tasks.map(({ agentVersion, agentHash }) => `${agentVersion} (${agentHash.slice(0, 8)})`)),
    environment: `${batch.environment.version} (${batch.environment.generation.slice(0, 8)})`,
    cases: `${cases.size} cases (${digest(cases)})`,
    faults: faults.size === 0 ? 'none' : `${faults.size} schedules (${digest(faults)})`,
    graders: batch.graders.join(' and '),
  };
  return {
    batch: batch.batch,
    at: batch.createdAt,
    tasks: tasks.length,
    of,
    missing: tasks.reduce((sum, { trials, scored }) => sum + trials - scored, 0),
    passed: rateOf(tasks, ({ passed }) => passed),
    harmless: rateOf(tasks, ({ scored, harmful }) => scored - harmful),
    versions,
    fresh: before === undefined ? [] : VERSIONED.filter((what) => versions[what] !== before.versions[what]),
  };
}

/** As rates of trials are: Wilson's interval where each case was run once, else clustered by case. */
function rateOf(tasks: readonly SeriesTask[], hits: (task: SeriesTask) => number): Rate {
  const clusters = [...Map.groupBy(tasks, (one) => one.case).values()].map((own) => {
    const scored = own.reduce((sum, one) => sum + one.scored, 0);
    const count = own.reduce((sum, one) => sum + hits(one), 0);
    return Array.from({ length: scored }, (_, at) => (at < count ? 1 : 0));
  });
  const all = clusters.flat();
  const count = all.filter((one) => one === 1).length;
  const clustered = clusters.every(({ length }) => length < 2) ? null : clusteredRate(clusters);
  return {
    count,
    of: all.length,
    rate: all.length === 0 ? null : count / all.length,
    interval: clustered?.interval ?? wilson(count, all.length),
    method: clustered === null ? 'wilson' : 'clustered',
  };
}

function digest(hashes: ReadonlyMap<string, string>): string {
  return createHash('sha256')
    .update(JSON.stringify([...hashes].sort()))
    .digest('hex')
    .slice(0, 8);
}
