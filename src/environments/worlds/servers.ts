import type { WorldHostConfig } from '../../worker/config.ts';
import { WorldServerAwayError } from '../world.ts';
import { type Access, sharedAccess, shares } from './access.ts';
import { type Host, HostError, prepareHost } from '../hosts/host.ts';
import { connectionLoss } from '../hosts/loss.ts';
import { WORLDS_DATABASE } from '../hosts/migrations.ts';

/** A server that did not answer is asked again after so long, in milliseconds; until then whoever wants it hears at once that it is away. */
const PROBE_MS = 1_000;

/** How long a question may take that is put to all servers: one that takes longer has no room. */
const ASK_MS = 5_000;

export interface ServersOptions {
  /** Connections to a server whose configuration names no number. */
  readonly connections: number;
  /** How long a server may be away, in milliseconds, before its worlds are given up; only while another one answers. */
  readonly patienceMs: number;
  /** Milliseconds of a steady clock. */
  readonly now: () => number;
  /** Each is prepared when it is first used. */
  readonly lazy: boolean;
  readonly log: (message: string, details: { readonly [name: string]: unknown }) => void;
}

/** A Postgres server for worlds that has been prepared. */
export interface ReadyServer {
  readonly host: Host;
  /** Connections to the worlds of isolation `schema`. */
  readonly access: Access;
}

interface Away {
  readonly since: number;
  readonly why: string;
  /** Questions in a row that it did not answer. One alone may have been a session that somebody ended. */
  readonly times: number;
  asked: number;
}

/** One Postgres server for worlds, whether it answers or not. */
export class WorldServer {
  readonly name: string;
  /** Connections that this process may have to it. */
  readonly connections: number;
  /** Worlds that this process is about to have on it, and that its registry may not show yet. */
  placing = 0;
  private readonly config: WorldHostConfig;
  private readonly options: ServersOptions;
  private ready: ReadyServer | null = null;
  private preparing: Promise<ReadyServer> | null = null;
  private away: Away | null = null;
  private readonly others: () => boolean;

  /** `others`: whether another server answers. */
  constructor(config: WorldHostConfig, options: ServersOptions, others: () => boolean) {
    this.name = config.name;
    this.connections = config.connections ?? options.connections;
    this.config = config;
    this.options = options;
    this.others = others;
  }

  /** As far as is known. */
  get answers(): boolean {
    return this.ready !== null && (this.away === null || this.away.times < 2);
  }

  /** Null before it was prepared, and while it is known to be away. */
  get answering(): ReadyServer | null {
    return this.away === null ? this.ready : null;
  }

  /** Null before it was prepared. */
  get prepared(): ReadyServer | null {
    return this.ready;
  }

  /**
   * Runs `work` on the server, which is prepared first where it was not. @throws {WorldServerAwayError} when it does not answer; {HostError} when it cannot hold
   * worlds; what `work` throws.
   */
  async reach<T>(work: (server: ReadyServer) => Promise<T>): Promise<T> {
    const { away } = this;
    if (away && away.times > 1 && this.options.now() - away.asked < PROBE_MS) throw this.error(away, null);
    if (away) away.asked = this.options.now();
    try {
      const value = await work(this.ready ?? (await this.prepare()));
      if (this.away) this.options.log('a server of worlds answers again', { server: this.name });
      this.away = null;
      return value;
    } catch (error) {
      const why = connectionLoss(error instanceof HostError ? error.cause : error);
      if (why === null) throw error;
      const now = this.options.now();
      if (!this.away) this.options.log('a server of worlds does not answer', { server: this.name, why });
      this.away = { since: this.away?.since ?? now, why, times: (this.away?.times ?? 0) + 1, asked: now };
      throw this.error(this.away, error);
    }
  }

  async close(): Promise<void> {
    const ready = this.ready ?? (await this.preparing?.catch(() => null)) ?? null;
    await ready?.access.close();
    await ready?.host.close();
  }

  private async prepare(): Promise<ReadyServer> {
    const { admin, control } = shares(this.connections);
    this.preparing ??= prepareHost(this.config, { admin, control })
      .then((host) => {
        this.ready = { host, access: sharedAccess(host, WORLDS_DATABASE, this.connections) };
        if (host.weaknesses.length > 0)
          this.options.log('PUBLIC keeps privileges on this host that worlds should not have', { host: host.name, kept: host.weaknesses });
        if (!host.canReplay)
          this.options.log('the administrator may not set session_replication_role: worlds on this host are not reused, and snapshots not restored', {
            host: host.name,
          });
        return this.ready;
      })
      .finally(() => {
        this.preparing = null;
      });
    return this.preparing;
  }

  private error({ since, why }: Away, cause: unknown): WorldServerAwayError {
    const forMs = this.options.now() - since;
    // Where all are away there is nowhere to go: then it is waited for.
    return new WorldServerAwayError(this.name, { why, forMs, lasting: forMs >= this.options.patienceMs && this.others(), cause });
  }
}

/** The Postgres servers that hold worlds. */
export class WorldServers implements AsyncDisposable {
  readonly all: readonly WorldServer[];

  private constructor(configs: readonly WorldHostConfig[], options: ServersOptions) {
    const all: WorldServer[] = configs.map(
      (config) => new WorldServer(config, options, () => all.some((other) => other.name !== config.name && other.answers)),
    );
    this.all = all;
  }

  /**
   * Prepares the servers. One that does not answer is prepared when it does, as long as another one is there. @throws {HostError} when one cannot hold worlds, or none
   * answers
   */
  static async prepare(configs: readonly WorldHostConfig[], options: ServersOptions): Promise<WorldServers> {
    if (configs.length === 0) throw new RangeError('at least one server of worlds is needed');
    if (new Set(configs.map(({ name }) => name)).size < configs.length) throw new RangeError('each server of worlds needs a name of its own');
    const servers = new WorldServers(configs, options);
    if (options.lazy) return servers;
    const prepared = await Promise.allSettled(servers.all.map((server) => server.reach(async () => {})));
    const errors = prepared.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
    const defect = errors.find((error) => !(error instanceof WorldServerAwayError)) ?? (errors.length === configs.length ? errors[0] : undefined);
    if (defect === undefined) return servers;
    await servers[Symbol.asyncDispose]();
    throw defect instanceof WorldServerAwayError ? new HostError(defect.server, `cannot connect: ${defect.why}`, { cause: defect }) : defect;
  }

  /** The one with this name. */
  named(name: string): WorldServer | null {
    return this.all.find((server) => server.name === name) ?? null;
  }

  /**
   * Puts a question to all at once. Those that do not answer, or not soon, are left out. @throws {WorldServerAwayError} when none answers; what a question threw otherwise
   */
  async ask<T>(question: (ready: ReadyServer, server: WorldServer) => Promise<T>): Promise<readonly { readonly server: WorldServer; readonly answer: T }[]> {
    const answers: { server: WorldServer; answer: T }[] = [];
    const errors: unknown[] = [];
    const first = Promise.withResolvers<void>();
    const asked = this.all.map((server) =>
      server
        .reach((ready) => question(ready, server))
        .then(
          (answer) => {
            answers.push({ server, answer });
            first.resolve();
          },
          (error: unknown) => errors.push(error),
        ),
    );
    const all = Promise.all(asked);
    const patience = Promise.withResolvers<void>();
    const timer = setTimeout(patience.resolve, ASK_MS);
    await Promise.race([all, patience.promise]);
    clearTimeout(timer);
    // Where all are slow: better late than nowhere.
    await Promise.race([all, first.promise]);
    const defect = errors.find((error) => !(error instanceof WorldServerAwayError));
    if (answers.length === 0 || defect !== undefined) throw defect ?? errors[0];
    return [...answers];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.all.map((server) => server.close()));
  }
}
