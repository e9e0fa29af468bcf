import { resolve } from 'node:path';
import type { Environment, Place } from '../worker/config.ts';

/** Where services are, and where everything is kept. Everything has a default. */
export interface Settings {
  /** Variables as in `process.env`; only those that the documentation names are read. Default: those of this process. */
  readonly env?: Environment;
  /** Folder of everything that we keep; default `TRIALBED_HOME`, else `.trialbed` in the working folder. */
  readonly home?: string;
  /** Folder from which a relative home is taken. Default: the working folder of the process. */
  readonly cwd?: string;
  /** Progress that takes long: starting services, downloads. Default: silent. */
  readonly log?: (line: string) => void;
  /** By which way somebody asks, for the audit log. Default `library`. */
  readonly via?: 'cli' | 'library';
  /** `optional`: servers of others that are away, Temporal or those of worlds, keep nobody from reading what the store knows; whatever asks them fails then. Default `needed`. */
  readonly temporal?: 'needed' | 'optional';
}

/** What the readers of the configuration take. */
export function sourcesOf(settings: Settings): { readonly env: Environment; readonly place: Place } {
  const { cwd, home } = settings;
  return {
    env: settings.env ?? process.env,
    place: { ...(cwd === undefined ? {} : { cwd: resolve(cwd) }), ...(home === undefined ? {} : { home }) },
  };
}
