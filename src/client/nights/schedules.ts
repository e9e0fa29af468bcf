import { ScheduleAlreadyRunning, type ScheduleDescription, ScheduleNotFoundError, ScheduleOverlapPolicy } from '@temporalio/client';
import { nearestName } from '../../domain/text/nearest.ts';
import type { NightRow } from '../../store/nights.ts';
import type { Root } from '../../worker/root.ts';
import { type NightInput, nightQueue } from '../../workflows/night-messages.ts';
import type { night as nightWorkflow } from '../../workflows/night.ts';
import { NotFoundError } from '../api.ts';
import { ControlRefusedError } from '../control-errors.ts';
import { readSuite } from '../read-suite.ts';
import { type NightRequest, nightPlan } from './request.ts';

/** A schedule of nights, as Temporal has it. */
export interface NightSchedule {
  readonly name: string;
  readonly suite: string;
  /** As `02:00`. */
  readonly at: string;
  readonly timezone: string;
  readonly paused: boolean;
  /** Why it is paused, or what somebody noted. */
  readonly note: string | null;
  /** ISO 8601; null: there is none to come. */
  readonly next: string | null;
  /** Times that were due while nobody could begin them, and that were too old when somebody could. */
  readonly missed: number;
  /** Times at which the night before still ran. */
  readonly skipped: number;
}

/** A schedule with its newest nights, the newest first. */
export interface NightSeries {
  readonly schedule: NightSchedule;
  readonly nights: readonly NightRow[];
}

/** Schedules of nights, each a Schedule of Temporal. Those of other task queues are not seen. */
export interface NightSchedules {
  /** Makes a schedule. @throws {SuiteFileError} for a suite with problems @throws {ControlRefusedError} where there is one of that name */
  nightly(request: NightRequest): Promise<NightSchedule>;
  list(): Promise<readonly NightSchedule[]>;
  /** Default: the newest 30 nights. @throws {NotFoundError} */
  show(name: string, options?: { readonly limit?: number }): Promise<NightSeries>;
  /** No night begins until it is resumed; one that runs goes on. @throws {NotFoundError} */
  pause(name: string, note: string): Promise<NightSchedule>;
  resume(name: string): Promise<NightSchedule>;
  /** Begins a night now, unless one runs. */
  trigger(name: string): Promise<void>;
  /** The schedule goes; what its nights have shown stays. */
  remove(name: string): Promise<void>;
}

/** A night that could not begin in time begins until so long after. */
const DEFAULT_CATCH_UP_MS = 60 * 60_000;
/** A night longer than that is ended. */
const LONGEST = '24 hours';

export function nightSchedules(root: Pick<Root, 'temporal' | 'store' | 'config' | 'loadEnvironment'>): NightSchedules {
  const { temporal, store, config } = root;
  const prefix = `${nightQueue(config.taskQueue)}-`;
  const handleOf = (name: string) => temporal.schedule.getHandle(`${prefix}${name}`);
  const described = async (name: string): Promise<NightSchedule> => {
    try {
      return scheduleOf(name, await handleOf(name).describe());
    } catch (error) {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
      const near = nearestName(name, await names());
      throw new NotFoundError(`there is no schedule ${name}${near === null ? '' : `; did you mean ${near}?`}; \`trialbed schedule list\` lists them`);
    }
  };
  const names = async (): Promise<readonly string[]> => {
    const found: string[] = [];
    for await (const { scheduleId } of temporal.schedule.list()) if (scheduleId.startsWith(prefix)) found.push(scheduleId.slice(prefix.length));
    return found.sort();
  };
  return {
    async nightly(request) {
      const { suite } = await readSuite({ suite: request.suite, environmentOptions: {}, agents: request.agents ?? 'defaults' }, root);
      const { plan, hour, minute, timezone } = nightPlan(request);
      const name = request.name ?? suite.name;
      const input: NightInput = { schedule: name, plan };
      try {
        await temporal.schedule.create<typeof nightWorkflow>({
          scheduleId: `${prefix}${name}`,
          spec: { calendars: [{ hour, minute }], timezone },
          action: {
            type: 'startWorkflow',
            workflowType: 'night',
            workflowId: `${prefix}${name}`,
            args: [input],
            taskQueue: nightQueue(config.taskQueue),
            workflowExecutionTimeout: LONGEST,
          },
          policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: request.catchUpMs ?? DEFAULT_CATCH_UP_MS, pauseOnFailure: true },
        });
      } catch (error) {
        if (!(error instanceof ScheduleAlreadyRunning)) throw error;
        throw new ControlRefusedError(`there is a schedule ${name} already; delete it first ("trialbed schedule delete ${name}"), or give this one a --name`, {
          cause: error,
        });
      }
      return described(name);
    },
    async list() {
      const found = [];
      for (const name of await names()) found.push(await described(name));
      return found;
    },
    async show(name, { limit = 30 } = {}) {
      return { schedule: await described(name), nights: await store.nights.of(name, limit) };
    },
    async pause(name, note) {
      await described(name);
      await handleOf(name).pause(note);
      return described(name);
    },
    async resume(name) {
      await described(name);
      await handleOf(name).unpause();
      return described(name);
    },
    async trigger(name) {
      await described(name);
      await handleOf(name).trigger(ScheduleOverlapPolicy.SKIP);
    },
    async remove(name) {
      await described(name);
      await handleOf(name).delete();
    },
  };
}

function scheduleOf(name: string, { spec, action, state, info }: ScheduleDescription): NightSchedule {
  const [calendar] = spec.calendars ?? [];
  const two = (ranges: readonly { readonly start: number }[] | undefined) => String(ranges?.[0]?.start ?? 0).padStart(2, '0');
  const [input] = (action.type === 'startWorkflow' ? (action.args ?? []) : []) as readonly (NightInput | undefined)[];
  return {
    name,
    suite: input?.plan.suite ?? '',
    at: `${two(calendar?.hour)}:${two(calendar?.minute)}`,
    timezone: spec.timezone ?? 'UTC',
    paused: state.paused,
    note: state.note || null,
    next: info.nextActionTimes[0]?.toISOString() ?? null,
    missed: info.numActionsMissedCatchupWindow,
    skipped: info.numActionsSkippedOverlap,
  };
}
