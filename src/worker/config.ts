/** Which Postgres host holds worlds. */
export interface WorldHostConfig {
  /** Short name, recorded with each world. */
  readonly name: string;
  readonly kind: 'external' | 'container' | 'embedded';
  /** URL of a role that may create roles and databases. Never recorded or logged. */
  readonly adminUrl: string;
}

/** Everything a worker, a client or a command is built from. Made once, by {@link readConfig} or by a test. */
export interface Config {
  /** Folder of everything that we keep on this machine; default `.trialbed` in the working folder. */
  readonly home: string;
  readonly store: { readonly url: string };
  readonly worldHosts: readonly WorldHostConfig[];
  readonly temporal: {
    readonly address: string;
    readonly namespace: string;
    readonly apiKey?: string;
    readonly tls?: boolean | { readonly serverNameOverride?: string };
  };
  readonly taskQueue: string;
  /** Address on which the inbox and the ticket service of this worker listen. Default 127.0.0.1. */
  readonly listen: string;
  readonly worker: {
    /** Activities at once. */
    readonly activities: number;
    readonly cachedWorkflows: number;
  };
  /** Connections to one Postgres host for worlds. */
  readonly worldConnections: number;
  readonly postgresImage: string;
  /** Failpoints that are armed: name, and the how-manieth hit kills the process. Tests only. */
  readonly failpoints: readonly { readonly name: string; readonly hit: number }[];
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent';
}
