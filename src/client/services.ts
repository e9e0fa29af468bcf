import { type DoctorReport, diagnose } from '../infra/doctor.ts';
import { arrange } from '../infra/plan.ts';
import * as infra from '../infra/services.ts';
import { readSettings } from '../worker/config.ts';
import { type Settings, sourcesOf } from './settings.ts';

/** Services that stay until {@link down}. */
export type KeptServices = Awaited<ReturnType<typeof infra.up>>;

/** Starts the services that are missing, and keeps them when no process uses them any more: `trialbed up`. Errors as of `connect()`. */
export function up(settings: Settings = {}): Promise<KeptServices> {
  const { env, place } = sourcesOf(settings);
  return infra.up(readSettings(env, place), settings.log ? { progress: settings.log } : {});
}

/** Stops what {@link up} keeps, with the last process that uses it or, by `force`, at once; ends containers that worlds have left: `trialbed down`. */
export function down(settings: Settings & { readonly force?: boolean } = {}): Promise<infra.DownReport> {
  const { env, place } = sourcesOf(settings);
  const services = readSettings(env, place);
  return infra.down(services, { force: settings.force ?? false, allGiven: arrange(services).allGiven });
}

/** What was found of what a run needs, what is missing, and how to get it. Starts and changes nothing: `trialbed doctor`. */
export function doctor(settings: Settings = {}): Promise<DoctorReport> {
  const { env, place } = sourcesOf(settings);
  return diagnose(readSettings(env, place));
}
