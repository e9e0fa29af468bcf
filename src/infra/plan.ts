import type { ServiceSettings, WorldHostConfig } from '../worker/config.ts';
import { ConfigError } from '../worker/config.ts';
import { databaseOf, withDatabase } from './postgres-url.ts';

/** Name of the store's database where the URL names none. */
export const STORE_DATABASE = 'trialbed';
/** Name of the database that holds the worlds of a Postgres host. */
export const WORLDS_DATABASE = 'trialbed_worlds';

/** What the supervisor of a home starts. Two commands share a supervisor when their plans are equal. */
export interface ServicePlan {
  readonly home: string;
  /** Whether the store lives in the embedded PostgreSQL. */
  readonly embeddedStore: boolean;
  /** Where worlds live: given by a URL, or made by us. `auto` is a container where an engine answers, else embedded. */
  readonly worlds: 'external' | 'auto' | 'container' | 'embedded';
  readonly postgresImage: string;
  /** How to find the CLI whose development server is started; null when a Temporal server is given. */
  readonly temporal: { readonly explicit: string | null; readonly path: string; readonly cacheFolder: string } | null;
}

/** What is to be started, and which URLs are given. */
export interface Arrangement {
  readonly plan: ServicePlan;
  readonly storeUrl: string | null;
  /** Null: not given. */
  readonly worlds: readonly WorldHostConfig[] | null;
  /** Nothing has to be started: no supervisor is needed. */
  readonly allGiven: boolean;
}

/** Decides from the settings alone, without looking at the machine. @throws {ConfigError} where a forced host has no URL */
export function arrange(settings: ServiceSettings): Arrangement {
  const storeUrl = settings.databaseUrl === null ? null : storeDatabase(settings.databaseUrl);
  const given = settings.worldsUrls ?? (settings.databaseUrl === null ? null : [{ name: 'external', url: settings.databaseUrl }]);
  if (settings.postgres === 'external' && given === null) {
    throw new ConfigError(['TRIALBED_POSTGRES: external needs a URL in TRIALBED_WORLDS_URL or TRIALBED_DATABASE_URL']);
  }
  const external = given !== null && (settings.postgres === 'auto' || settings.postgres === 'external');
  const worlds = external ? given.map(({ name, url }) => ({ name, kind: 'external' as const, adminUrl: withDatabase(url, WORLDS_DATABASE) })) : null;
  const plan: ServicePlan = {
    home: settings.home,
    embeddedStore: storeUrl === null,
    worlds: external ? 'external' : settings.postgres === 'external' ? 'auto' : settings.postgres,
    postgresImage: settings.postgresImage,
    temporal: settings.temporal === null ? { explicit: settings.temporalCli, path: settings.path, cacheFolder: settings.cacheFolder } : null,
  };
  return { plan, storeUrl, worlds, allGiven: storeUrl !== null && external && plan.temporal === null };
}

/** Whether services started for one plan serve the other. Where the CLI was found makes no difference. */
export function samePlan(a: ServicePlan, b: ServicePlan): boolean {
  const parts = (plan: ServicePlan): string =>
    JSON.stringify([plan.embeddedStore, plan.worlds, plan.worlds === 'embedded' ? '' : plan.postgresImage, plan.temporal !== null]);
  return parts(a) === parts(b);
}

function storeDatabase(url: string): string {
  const name = databaseOf(url);
  return name === '' || name === 'postgres' ? withDatabase(url, STORE_DATABASE) : url;
}
