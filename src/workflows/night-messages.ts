/** Input of the workflow of a night: its schedule holds it. No secret is in it. */
export interface NightInput {
  /** Name of the schedule. */
  readonly schedule: string;
  /** What a night runs, as {@link NightActivities} of the worker reads it. */
  readonly plan: NightPlan;
}

/** What a schedule runs each time. */
export interface NightPlan {
  /** Name of a built-in suite, or absolute path. */
  readonly suite: string;
  readonly agents?: readonly string[];
  readonly cases?: readonly string[];
  readonly tags?: readonly string[];
  readonly faults?: readonly string[];
  readonly trials?: number;
  readonly concurrency?: number;
  /** Tools are held against the suite's cassettes as well. */
  readonly contract?: true;
  /** A webhook: its URL, or the name of the variable that holds it. */
  readonly webhook?: { readonly url: string } | { readonly variable: string };
  /** Address to which a mail goes, by the server that the variable `TRIALBED_NIGHT_SMTP` names. */
  readonly mail?: string;
}

/** One run of a schedule. */
export interface NightRef extends NightInput {
  readonly night: string;
  readonly workflow: string;
  /** When it was due, ISO 8601. */
  readonly due: string;
}

/** How a night begins: its batch runs; another night uses what it needs; or it has ended before. */
export type NightStart = { readonly kind: 'begun'; readonly batch: string } | { readonly kind: 'locked'; readonly by: string } | { readonly kind: 'over' };

export interface NightEnd {
  readonly night: string;
  readonly state: 'held' | 'broken';
  readonly why: string | null;
}

/** Steps of a night. Each is safe to repeat. */
export interface NightActivities {
  /** Takes the lock, removes what earlier nights have left, and launches the batch. */
  beginNight(night: NightRef): Promise<NightStart>;
  /** Waits until the batch has ended, for some minutes at most. Whether it has. */
  watchNight(night: { readonly batch: string }): Promise<boolean>;
  /** Looks at what the night has shown, writes its report, lets go of the lock. `problem`: why it could not run. */
  endNight(night: NightRef & { readonly batch: string | null; readonly problem: string | null }): Promise<NightEnd>;
  /** Tells whoever is to be told, where there is something to tell. */
  tellNight(night: NightRef): Promise<void>;
}

/** Task queue of the workflows of nights: served by every `trialbed worker`. */
export function nightQueue(taskQueue: string): string {
  return `${taskQueue}-nights`;
}

/** Type of the failure with which a night ends whose invariants did not hold, so that its schedule pauses. */
export const NIGHT_BROKEN = 'NightBroken';
