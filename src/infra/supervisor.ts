import { chmod, mkdir, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { takeHomeLock } from './home-lock.ts';
import { type HomeState, readHomeState, writeHomeState } from './home-state.ts';
import { type ServicePlan, samePlan } from './plan.ts';
import { endLeftover } from './process.ts';
import { type FromSupervisor, onMessage, type SupervisorStatus, send, socketPath, type ToSupervisor } from './protocol.ts';
import { type RunningServices, startServices } from './start-services.ts';

/** How long a supervisor whose starter died before it became a user waits for another user. */
const FIRST_USER_MS = 15_000;

/**
 * Runs the services of a home until nobody uses them: the process that this is called in has no other purpose. Returns at
 * once when the home has a supervisor.
 *
 * A user is an open connection to the control socket. The system closes it when the user's process ends in whatever way, so
 * that a killed command cannot keep services alive, and no process ids have to be watched.
 */
export async function supervise(plan: ServicePlan, log: (text: string) => void): Promise<void> {
  await mkdir(plan.home, { recursive: true });
  using lock = takeHomeLock(plan.home);
  if (lock === null) return;
  const state = await readHomeState(plan.home);
  for (const { name, pid, mark } of state.running) {
    if (await endLeftover(pid, mark, ['SIGINT'], 10_000)) log(`ended ${name} (process ${pid}), which a killed supervisor had left`);
  }
  state.running = [];
  writeHomeState(plan.home, state);
  const supervisor = new Supervisor(plan, state, log);
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => supervisor.stop(`signal ${signal}`));
  await supervisor.run();
}

class Supervisor {
  readonly #plan: ServicePlan;
  readonly #state: HomeState;
  readonly #log: (text: string) => void;
  readonly #sockets = new Set<Socket>();
  readonly #users = new Map<Socket, number>();
  readonly #stopRequested = Promise.withResolvers<void>();
  #services: RunningServices | null = null;
  #pinned = false;
  #stopping = false;
  #hadUser = false;

  constructor(plan: ServicePlan, state: HomeState, log: (text: string) => void) {
    this.#plan = plan;
    this.#state = state;
    this.#log = log;
  }

  async run(): Promise<void> {
    const server = await this.#listen();
    const firstUser = setTimeout(() => {
      this.#hadUser = true;
      this.#stopIfUnused();
    }, FIRST_USER_MS);
    try {
      await this.#serve();
    } finally {
      clearTimeout(firstUser);
      await this.#services?.stop();
      this.#state.running = [];
      writeHomeState(this.#plan.home, this.#state);
      this.#log('all services have stopped');
      // Removes the socket file; only then do those who wait learn that all is over, and may start anew.
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of this.#sockets) socket.end();
      setTimeout(() => this.#destroySockets(), 1_000).unref();
      await closed;
    }
  }

  #destroySockets(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  stop(reason: string): void {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#log(`stopping: ${reason}`);
    this.#stopRequested.resolve();
  }

  async #serve(): Promise<void> {
    try {
      this.#services = await startServices(this.#plan, this.#state, { log: this.#log, progress: (text) => this.#tellUsers({ type: 'progress', text }) });
    } catch (error) {
      this.#stopping = true;
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'services';
      const message = error instanceof Error ? error.message : String(error);
      this.#log(`failed: ${message}`);
      this.#tellUsers({ type: 'failed', pid: process.pid, code, message });
      return;
    }
    this.#log('all services run');
    this.#tellUsers({ type: 'ready', pid: process.pid, services: this.#services.started });
    for (const service of this.#services.kept) service.lost.then((error) => this.stop(error.message));
    this.#stopIfUnused();
    await this.#stopRequested.promise;
  }

  async #listen(): Promise<Server> {
    const path = await socketPath(this.#plan.home);
    // We hold the lock, so whoever made this file is dead.
    await rm(path, { force: true });
    const server = createServer((socket) => this.#welcome(socket));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(path, resolve);
    });
    await chmod(path, 0o600);
    return server;
  }

  #welcome(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      this.#sockets.delete(socket);
      if (this.#users.delete(socket)) this.#stopIfUnused();
    });
    onMessage<ToSupervisor>(socket, (message) => this.#receive(socket, message));
  }

  #receive(socket: Socket, message: ToSupervisor): void {
    switch (message.type) {
      case 'acquire':
        this.#acquire(socket, message.pid, message.plan);
        break;
      case 'release':
        this.#users.delete(socket);
        this.#stopIfUnused();
        // The last one learns of its release when its connection ends, which is when nothing is left.
        if (!this.#stopping) send(socket, { type: 'released' });
        break;
      case 'pin':
        this.#pinned = message.pinned;
        this.#stopIfUnused();
        send(socket, { type: 'status', status: this.#status() });
        break;
      case 'stop':
        send(socket, { type: 'status', status: this.#status() });
        this.stop('told to stop');
        break;
      case 'status':
        send(socket, { type: 'status', status: this.#status() });
        break;
    }
  }

  #acquire(socket: Socket, pid: number, plan: ServicePlan): void {
    if (this.#stopping) {
      send(socket, { type: 'stopping' });
    } else if (samePlan(plan, this.#plan)) {
      this.#users.set(socket, pid);
      this.#hadUser = true;
      if (this.#services !== null) send(socket, { type: 'ready', pid: process.pid, services: this.#services.started });
    } else {
      const message = `the services of ${this.#plan.home} run with other settings of Postgres or Temporal; end their users, run "trialbed down", then try again`;
      send(socket, { type: 'failed', pid: process.pid, code: 'services_differ', message });
    }
  }

  #stopIfUnused(): void {
    if (this.#hadUser && this.#users.size === 0 && !this.#pinned && this.#services !== null) this.stop('nobody uses the services');
  }

  #tellUsers(message: FromSupervisor): void {
    for (const socket of this.#users.keys()) send(socket, message);
  }

  #status(): SupervisorStatus {
    const services = this.#services?.kept.map((service) => service.status()) ?? [];
    return { pid: process.pid, pinned: this.#pinned, users: [...this.#users.values()], services, started: this.#services?.started ?? null };
  }
}
