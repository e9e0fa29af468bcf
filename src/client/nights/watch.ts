import type { NightRow } from '../../store/nights.ts';
import type { Root } from '../../worker/root.ts';
import type { NightInput } from '../../workflows/night-messages.ts';
import { nightQueue } from '../../workflows/night-messages.ts';
import { type Teller, toTell } from './tell.ts';
import { writeNight } from './write-night.ts';

const DAY_MS = 24 * 60 * 60_000;
/** A night that a change of the clocks moves is still the same one. */
const SAME_MS = 2 * 60 * 60_000;
/** How long after its time a night may begin before it counts as one that did not run, beside the catch-up of its schedule. */
const GRACE_MS = 10 * 60_000;

/** Finds nights that were due and never began, notes each once, and tells whoever is to be told. Those of a schedule that somebody has paused are none. */
export async function findMissed(root: Pick<Root, 'temporal' | 'store' | 'config'>, tell: Teller, now: Date): Promise<readonly string[]> {
  const { temporal, store, config } = root;
  const prefix = `${nightQueue(config.taskQueue)}-`;
  const found: string[] = [];
  for await (const { scheduleId } of temporal.schedule.list()) {
    if (!scheduleId.startsWith(prefix)) continue;
    const name = scheduleId.slice(prefix.length);
    const { action, info, policies, state } = await temporal.schedule.getHandle(scheduleId).describe();
    const next = info.nextActionTimes[0];
    // It is paused after a failure, not by somebody, where the note says so; the server writes that note.
    const paused = state.paused && !/failure/i.test(state.note ?? '');
    if (!next || paused) continue;
    const due = new Date(next.getTime() - DAY_MS);
    if (due < info.createdAt || now.getTime() < due.getTime() + policies.catchupWindow + GRACE_MS) continue;
    const night = { id: `${name}-${due.toISOString().replaceAll(/[-:]|\.\d+/g, '')}`, schedule: name, due };
    const why = state.paused
      ? `the schedule is paused: ${state.note}; "trialbed schedule resume ${name}" lets it go on`
      : 'no worker began it in time; "trialbed worker" has to run when a night is due';
    if (!(await store.nights.missed(night, why, SAME_MS))) continue;
    found.push(night.id);
    const [input] = (action.type === 'startWorkflow' ? (action.args ?? []) : []) as readonly (NightInput | undefined)[];
    await writeNight(store, config.home, night.id).catch(() => null);
    const row: NightRow | null = await store.nights.read(night.id);
    const news = row && toTell(row);
    if (row && news && input) await store.nights.set(night.id, { body: { told: await tell(input.plan, row, news) } });
  }
  return found;
}
