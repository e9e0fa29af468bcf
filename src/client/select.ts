import { matchesGlob } from 'node:path';
import { labelsOf } from '../domain/case-labels.ts';
import { nearestName } from '../domain/text/nearest.ts';
import { SEVERITIES } from '../domain/trial-facts.ts';
import type { LoadedAgent, LoadedCase, LoadedSchedule } from '../suite/suite.ts';
import type { RunRequest } from './api.ts';
import { NothingToRunError } from './nothing-to-run.ts';
import type { PlannedTrial } from './plan.ts';
import { isFor } from './select-schedules.ts';

/** The cases that a request's globs, tags and severities choose, in the suite's order. @throws {NothingToRunError} */
export function selectCases(cases: readonly LoadedCase[], request: Pick<RunRequest, 'cases' | 'tags' | 'severities'>): readonly LoadedCase[] {
  const { cases: globs = [], tags = [], severities = [] } = request;
  const byGlob = globs.length === 0 ? cases : cases.filter(({ kase }) => globs.some((glob) => matchesGlob(kase.id, glob)));
  if (byGlob.length === 0) {
    const known = cases.map(({ kase }) => kase.id).slice(0, 20);
    const meant = suggestion(
      globs,
      cases.map(({ kase }) => kase.id),
    );
    throw new NothingToRunError(
      `no case matches ${globs.map((glob) => `"${glob}"`).join(', ')}${meant}; there are: ${known.join(', ')}${cases.length > known.length ? ', ...' : ''}`,
    );
  }
  const chosen = tags.length === 0 ? byGlob : byGlob.filter(({ kase }) => tags.some((tag) => kase.tags.includes(tag)));
  if (chosen.length === 0) {
    const known = tagsOf(cases);
    throw new NothingToRunError(`no case has the tag ${tags.map((tag) => `"${tag}"`).join(' or ')}${suggestion(tags, known)}; there are: ${known.join(', ')}`);
  }
  if (severities.length === 0) return chosen;
  const severe = chosen.filter(({ kase }) => severities.includes(labelsOf(kase).severity));
  if (severe.length === 0) {
    const known = new Set(chosen.map(({ kase }) => labelsOf(kase).severity));
    throw new NothingToRunError(
      `none of the chosen cases has the severity ${severities.join(' or ')}; they have: ${SEVERITIES.filter((one) => known.has(one)).join(', ')}`,
    );
  }
  return severe;
}

/** Tags of cases, each once. */
export function tagsOf(cases: readonly LoadedCase[]): readonly string[] {
  return [...new Set(cases.flatMap(({ kase }) => kase.tags))].sort();
}

/** Every case under each schedule that is for it, by every agent, as often as it is to be repeated. `null` among the schedules is the trial without faults. */
export function trialsOf(
  cases: readonly LoadedCase[],
  schedules: readonly (LoadedSchedule | null)[],
  agents: readonly LoadedAgent[],
  repetitions: number,
): readonly PlannedTrial[] {
  const ordinals = Array.from({ length: Math.max(1, repetitions) }, (_none, index) => index + 1);
  return agents.flatMap((agent) =>
    schedules.flatMap((schedule) =>
      cases.filter((kase) => isFor(schedule, kase)).flatMap((kase) => ordinals.map((repetition) => ({ kase, schedule, agent, repetition }))),
    ),
  );
}

/** One shard of a list: every `of`-th trial, so that shards are of equal size and together are all. @throws {NothingToRunError} for a shard that does not exist or holds none. */
export function selectShard(trials: readonly PlannedTrial[], shard: RunRequest['shard']): readonly PlannedTrial[] {
  if (!shard) return trials;
  const { index, of } = shard;
  if (!Number.isInteger(index) || !Number.isInteger(of) || index < 1 || of < 1 || index > of)
    throw new NothingToRunError(`shard ${index}/${of} does not exist; the first of four is 1/4`);
  const chosen = trials.filter((_trial, position) => position % of === index - 1);
  if (chosen.length === 0) throw new NothingToRunError(`shard ${index}/${of} of ${trials.length} trials holds none; use fewer shards`);
  return chosen;
}

function suggestion(names: readonly string[], known: readonly string[]): string {
  const near = names.map((name) => nearestName(name, known)).find((name) => name !== null);
  return near === undefined ? '' : ` (did you mean "${near}"?)`;
}
