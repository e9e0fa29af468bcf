import { setTimeout as sleep } from 'node:timers/promises';
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { JsonObject } from '../domain/json.ts';
import { driftOf, type PinnedTool } from '../environments/pinned-tools.ts';
import type { ServiceAddresses } from '../environments/services.ts';
import type { ToolServer } from '../environments/tool-server.ts';
import type { LoadedEnvironment, World } from '../environments/world.ts';
import { ToolSchemaError, ToolServerError } from './errors.ts';
import { type EnvironmentOf, serverOptions } from './program.ts';
import { RunningServer } from './server.ts';

/** How often a call looks whether the world's server is free that a worker elsewhere uses. */
const POLL_MS = 50;
/** How often a server is asked whether its world still stands: another worker may have given it back. */
const WATCH_MS = 3_000;

export interface ServedCall {
  readonly operation: { readonly id: string; readonly attempt: number };
  readonly tool: string;
  readonly args: JsonObject;
  readonly timeoutMs: number;
  /** Beside the arguments, for servers that look for it. */
  readonly meta: JsonObject;
  readonly signal: AbortSignal;
}

export interface ToolServersOptions {
  readonly addresses: ServiceAddresses;
  readonly environmentOf: EnvironmentOf;
  /** Whether a world still stands. */
  readonly stands: (world: World) => Promise<boolean>;
  /** Kills the process where a test armed it; each name is the race that it exposes. */
  readonly failpoint: (name: string) => void;
}

interface Served {
  server: RunningServer | null;
  /** Ends when the call before has ended. */
  turn: Promise<void>;
  readonly watch: NodeJS.Timeout;
}

/** The tool servers of the worlds that this process serves: one for each, and one call of a world at a time. */
export class ToolServers implements AsyncDisposable {
  private readonly options: ToolServersOptions;
  private readonly served = new Map<string, Served>();

  constructor(options: ToolServersOptions) {
    this.options = options;
  }

  /** Starts a world's server, where its environment has one. @throws {ToolServerError} @throws {ToolSchemaError} */
  async start(world: World, environment: LoadedEnvironment): Promise<void> {
    if (environment.environment.toolServer) await this.inTurn(world, new AbortController().signal, (served) => this.running(world, environment, served));
  }

  /**
   * Has the world's server carry out a call, after those before it. What the server writes from now on until it has answered is the call's operation's.
   *
   * @throws {ToolServerLostError} when its outcome is open; the server is gone then, and what it had not committed. The operation keeps what it has written, and is fenced by `recover`.
   */
  async call(world: World, environment: LoadedEnvironment, call: ServedCall): Promise<CallToolResult> {
    return this.inTurn(world, call.signal, async (served) => {
      while (!(await world.serve(call.operation))) await sleep(POLL_MS, undefined, { signal: call.signal });
      try {
        const server = await this.running(world, environment, served);
        this.options.failpoint('server_serves_before_call');
        const result = await server.call(call.tool, call.args, call);
        this.options.failpoint('server_answered_before_ledger');
        await world.served(call.operation);
        return result;
      } catch (error) {
        await this.giveUp(world, call);
        throw error;
      }
    });
  }

  /** Ends a world's server. Nothing of its process group is left. */
  async end(world: string): Promise<void> {
    const served = this.served.get(world);
    this.served.delete(world);
    clearInterval(served?.watch);
    await served?.server?.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.served.keys()].map((world) => this.end(world)));
  }

  /** A server that was lost may have left a transaction open, and requests under way: from here on nothing of the attempt comes any more, and another can be served. */
  private async giveUp(world: World, { operation }: ServedCall): Promise<void> {
    try {
      // Where somebody has taken it for lost meanwhile, it is fenced, and another worker's server has sessions of the same role.
      if (await world.loseServing(operation)) await world.ledger.recover(operation.id, operation.attempt);
    } catch {
      // The database is away: whoever heals the operation does the same.
    }
  }

  private async running(world: World, environment: LoadedEnvironment, served: Served): Promise<RunningServer> {
    if (served.server && !served.server.dead) return served.server;
    const { toolServer } = environment.environment;
    if (toolServer === undefined) throw new ToolServerError(['is none: the environment declares no tool server']);
    const server = await this.launch(toolServer, world);
    served.server = server;
    // Ended meanwhile.
    if (this.served.get(world.ref.id) !== served) await server.end();
    const drift = driftOf(environment.pinned ?? [], server.tools);
    if (drift.length > 0) {
      await server.end();
      throw new ToolSchemaError(drift);
    }
    return server;
  }

  /** Starts a server and gives its tools; it is not kept. For whoever pins them. @throws {ToolServerError} */
  async ask(world: World, toolServer: ToolServer): Promise<readonly PinnedTool[]> {
    const server = await this.launch(toolServer, world);
    await server.end();
    return server.tools;
  }

  private async launch(toolServer: ToolServer, world: World): Promise<RunningServer> {
    return RunningServer.start(await serverOptions(toolServer, world, this.options.addresses, this.options.environmentOf));
  }

  private async inTurn<T>(world: World, signal: AbortSignal, work: (served: Served) => Promise<T>): Promise<T> {
    const served = this.of(world);
    const before = served.turn;
    const { promise, resolve } = Promise.withResolvers<void>();
    served.turn = promise;
    try {
      await before;
      signal.throwIfAborted();
      return await work(served);
    } finally {
      resolve();
    }
  }

  private of(world: World): Served {
    const { id } = world.ref;
    const known = this.served.get(id);
    if (known) return known;
    const watch = setInterval(() => {
      this.options.stands(world).then(
        (stands) => (stands ? undefined : this.end(id)),
        // A database that is away for a moment ends no server.
        () => undefined,
      );
    }, WATCH_MS);
    watch.unref();
    const served = { server: null, turn: Promise.resolve(), watch };
    this.served.set(id, served);
    return served;
  }
}
