import { matchesGlob } from 'node:path';
import { nearestName } from '../domain/text/nearest.ts';
import type { LoadedCase, LoadedSchedule, Suite } from '../suite/suite.ts';
import type { RunRequest } from './api.ts';
import { NothingToRunError } from './nothing-to-run.ts';

/**
 * The schedules that a request chooses, `null` standing for trials without faults: that first, then in order of name, each once. A schedule is for the cases that
 * its globs name: one that a glob or `all` chose is passed over where none of the chosen cases is among them, one that was named is an error then.
 *
 * @throws {NothingToRunError}
 */
export function selectSchedules(
  suite: Pick<Suite, 'name' | 'schedules' | 'defaults'>,
  cases: readonly LoadedCase[],
  request: Pick<RunRequest, 'faults' | 'lastFailed'>,
): readonly (LoadedSchedule | null)[] {
  const asked = request.faults && request.faults.length > 0 ? request.faults : request.lastFailed ? ['all'] : suite.defaults.faults;
  const known = Object.values(suite.schedules);
  const chosen = new Set<LoadedSchedule | null>();
  for (const name of asked) {
    if (name === 'none' || name === 'all') chosen.add(null);
    if (name === 'none') continue;
    const matching = name === 'all' ? known : known.filter(({ schedule }) => schedule.name === name || matchesGlob(schedule.name, name));
    if (matching.length === 0 && name !== 'all') throw new NothingToRunError(unknownText(suite, name));
    const named = matching.find(({ schedule }) => schedule.name === name);
    if (named && !cases.some((kase) => isFor(named, kase))) {
      throw new NothingToRunError(
        `fault schedule "${name}" is for the cases ${named.schedule.cases.map((glob) => `"${glob}"`).join(', ')}, and none of these is chosen; choose one of them, or leave the schedule out`,
      );
    }
    for (const loaded of matching) if (cases.some((kase) => isFor(loaded, kase))) chosen.add(loaded);
  }
  if (chosen.size === 0)
    throw new NothingToRunError(`no fault schedule that ${asked.map((name) => `"${name}"`).join(', ')} chooses is for any of the chosen cases`);
  return [...(chosen.has(null) ? [null] : []), ...known.filter((loaded) => chosen.has(loaded))];
}

/** Whether a schedule is combined with a case; the trial without faults is of every case. */
export function isFor(loaded: LoadedSchedule | null, { kase }: LoadedCase): boolean {
  return loaded === null || loaded.schedule.cases.some((glob) => matchesGlob(kase.id, glob));
}

function unknownText({ name: suite, schedules }: Pick<Suite, 'name' | 'schedules'>, asked: string): string {
  const known = [...Object.keys(schedules), 'none', 'all'];
  const near = nearestName(asked, known);
  return `suite ${suite} has no fault schedule "${asked}"${near === null ? '' : ` (did you mean "${near}"?)`}; there are: ${known.join(', ')}`;
}
